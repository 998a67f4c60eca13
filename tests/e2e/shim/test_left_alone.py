# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The shim changes nothing for a program without XRC: files, locks, memory and bindings."""

import os
import re
import shutil

import pytest

import models
from running import free_port

# The server does not say when it listens, so the client tries until it succeeds.
RUN = (
    "ibv_rc_pingpong -d mlx4_0 -n 20 -p {port} >/dev/null & "
    "until ibv_rc_pingpong -d mlx4_0 -n 20 -p {port} 127.0.0.1 >/dev/null 2>&1; do sleep 0.1; done; "
    "wait; ibv_devinfo -v >/dev/null; ls / >/dev/null")


def opened(run, softhca, tmp_path, preload):
    """The paths that the programs opened."""
    logs = tmp_path / ("with" if preload else "without")
    logs.mkdir()
    # One log for each process, as strace cuts lines in two where processes share a log.
    strace = [
        "strace", "-ff", "-qq", "-o", logs / "log", "-e", "trace=open,openat,creat,memfd_create"
    ]
    # The shim stands before the emulator's library, for strace as for the programs.
    preload_first = f'LD_PRELOAD="{preload}:$LD_PRELOAD" exec "$@"' if preload else 'exec "$@"'
    result = run([
        softhca, "run", "--devices=1", "--", "sh", "-c", preload_first, "sh", *strace, "sh", "-c",
        models.named(RUN.format(port=free_port()))
    ], timeout=60)
    assert result.returncode == 0, result.stderr
    found = set()
    for line in "".join(log.read_text() for log in logs.iterdir()).splitlines():
        path = re.search(r'"([^"]*)"', line)
        if path and " = -1 " not in line:
            # Directories of the emulator and pids differ from run to run.
            found.add(re.sub(r"softhca-run-\w+|/proc/\d+", "*", path.group(1)))
    return found


@pytest.mark.skipif("XRC_COMPAT_TEST_SANITIZE" in os.environ,
                    reason="a sanitizer's runtime opens files of its own")
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_the_shim_opens_no_other_file(run, softhca, build_root, tmp_path):
    """Only the shim itself, so no table."""
    shim = build_root / "shim" / "libxrc-compat.so.1"
    without = opened(run, softhca, tmp_path, None)
    more = opened(run, softhca, tmp_path, shim) - without
    assert any("libibverbs" in path for path in without)
    assert more == {str(shim)}


@pytest.mark.skipif("XRC_COMPAT_TEST_SANITIZE" in os.environ,
                    reason="the program has a malloc() of its own, as the sanitizer has")
def test_no_lock_no_allocation(run, build_root):
    """The program creates and destroys QPs, but no XRC object."""
    folder = build_root / "tests" / "e2e" / "ordinary"
    preload = str(build_root / "shim" / "libxrc-compat.so.1")
    result = run([folder / "ordinary", "1000"],
                 env={"LD_LIBRARY_PATH": str(folder), "LD_PRELOAD": preload})
    assert (result.returncode, result.stdout) == (0, "0 locks, 0 allocations\n")
    assert result.stderr == "", "the loader says it if it cannot preload the library"


def test_references_without_a_version_bind_to_libibverbs(run, softhca, xrc_compat, build_root):
    """They bind to the oldest node of libibverbs, which has other structs than the shim."""
    program = build_root / "tests" / "e2e" / "shim" / "unversioned"
    for shim in ([], [xrc_compat, "run", "--"]):
        result = run([softhca, "run", "--devices=1", "--", *shim, program])
        found = (result.returncode, result.stdout)
        assert found == (0, "unversioned: done\n"), (shim, result.stderr)
