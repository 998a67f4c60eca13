# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The library has every released function. abidw of libabigail reads their types.

A change breaks programs that are linked with a released library. To record an intended change:
tests/abi/released.py build/shim/libxrc-compat.so.1
"""

import shutil

import pytest

import elf
import released


@pytest.fixture(scope="module", autouse=True)
def tool():
    if not shutil.which("abidw"):
        pytest.exit("SKIP: no abidw (abigail-tools, libabigail)", returncode=77)


def test_as_released(build_root):
    library = build_root / "shim" / "libxrc-compat.so.1"
    machine = released.machine_of(library)
    if not machine:
        pytest.skip("what was released is recorded for x86-64 and i386 only")
    if ".debug_info" not in elf.readelf("-S", library):
        pytest.skip("this build has no debug information, which names the types")
    assert not released.missing_lines(released.load(machine)[0], library), __doc__
