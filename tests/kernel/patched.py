# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The distribution's ib_uverbs with a patch of docs/upstream/: only that module is compiled, from
the sources of the same suite."""

import re
import shutil
import subprocess

from distribution import Apt, Failed, command, unpack

CORE = "drivers/infiniband/core"

# The folder has other modules, which are not compiled.
NOT_MADE = ["CONFIG_INFINIBAND=n", "CONFIG_INFINIBAND_USER_MAD=n", "CONFIG_INFINIBAND_ADDR_TRANS=n"]


def fetch_core(kernel, folder, suite):
    """Downloads the sources of Linux' RDMA core, as the suite has them now."""
    target = folder / "core"
    if target.exists():
        return target
    source = "linux-source-" + re.match(r"\d+\.\d+", kernel.version)[0]
    work = folder / "source"
    shutil.rmtree(work, ignore_errors=True)
    apt = Apt(work / "apt", suite)
    apt.get("update")
    apt.get("download", source)
    (work / "root").mkdir()
    unpack(next(apt.archives.glob("*.deb")), work / "root")
    archive = next((work / "root/usr/src").glob(f"{source}.tar.*"))
    subprocess.run([
        "tar", "-x", "-C", work, "--strip-components=1", "-f", archive, "--wildcards", f"*/{CORE}/*"
    ], check=True)
    shutil.move(work / CORE, target)
    shutil.rmtree(work)
    return target


def patched_uverbs(kernel, folder, suite, patch):
    """Makes the module; returns its path."""
    made, of = folder / "patched" / "ib_uverbs.ko", folder / "patched" / patch.name
    if of.exists() and of.read_bytes() == patch.read_bytes():
        return made
    module = kernel.root / "module"
    shutil.rmtree(module, ignore_errors=True)
    shutil.copytree(fetch_core(kernel, folder, suite), module)
    command("patch", "-d", module, "-p4", "-i", patch, error=Failed)
    kernel.make_modules(*NOT_MADE)
    made.parent.mkdir(exist_ok=True)
    shutil.copy(module / made.name, made)
    shutil.copy(patch, of)
    return made
