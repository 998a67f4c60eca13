# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Where the programs of this folder are, the libibverbs.so.1 of the distribution, and a program's own copy of it."""

import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def door(build_root):
    return build_root / "tests" / "e2e" / "door"


@pytest.fixture(scope="session")
def shim(build_root):
    return build_root / "shim" / "libxrc-compat.so.1"


@pytest.fixture(scope="session")
def real_library(shim):
    """The one of the ELF class (32 or 64 bits) that the programs here have."""
    wide = shim.read_bytes()[4] == 2
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True, timeout=30).stdout
    for line in listing.splitlines():
        if line.split()[:1] == ["libibverbs.so.1"] and ("x86-64" in line) == wide:
            return line.split()[-1]
    raise AssertionError("the loader knows no libibverbs.so.1")


@pytest.fixture
def private_copy(tmp_path, real_library):
    """The libibverbs that linked-rpath prefers when it lies in tmp_path."""
    (tmp_path / "private").mkdir()
    return shutil.copyfile(real_library, tmp_path / "private" / "libibverbs.so.1")
