# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the ABI tests share: this machine's libibverbs."""

import subprocess

import pytest


@pytest.fixture(scope="session")
def real_library():
    """The libibverbs.so.1 that programs get here, by the loader's own list."""
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        if line.split()[:1] == ["libibverbs.so.1"] and "x86-64" in line:
            return line.split()[-1]
    raise AssertionError("the loader knows no libibverbs.so.1")
