# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The library's ABI, functions and types, is the one that was released. abidiff of libabigail says what has changed.

If you change it on purpose, think of the programs that are linked with a released library; then record it anew:
tests/abi/released.py build/shim/libxrc-compat.so.1
"""

import shutil

import pytest

import elf
import released


@pytest.fixture(scope="module")
def library(build_root):
    """The library to compare. Where that cannot be done the whole file is skipped (status 77)."""
    library = build_root / "shim" / "libxrc-compat.so.1"
    if not shutil.which("abidiff"):
        pytest.exit("SKIP: no abidiff (abigail-tools, libabigail)", returncode=77)
    if not released.record_for(library):
        pytest.exit("SKIP: what was released is recorded for x86-64 and i386 only", returncode=77)
    if ".debug_info" not in elf.readelf("-S", library):
        pytest.exit("SKIP: this build has no debug information, which names the types", returncode=77)
    return library


def compare(folder, text, library):
    record = folder / "released.abi"
    record.write_text(text)
    return released.compare(record, library)


def test_as_released(tmp_path, library):
    status, report = compare(tmp_path, released.load(library), library)
    assert status == 0, report + __doc__


# (text of the record, a change of it, a word of abidiff's report then)
CHANGES = [
    ("name='ibv_query_srq' version='IBVERBS_1.1'", "name='ibv_query_srq' version='IBVERBS_1.2'", "Removed"),
    ("elf-symbol name='xrc_compat_srq'", "elf-symbol name='xrc_compat_old_srq'", "Removed"),
    ("type-id='8f92235e' name='qp_num'", "type-id='95e97e5e' name='qp_num'", "parameter"),
    ("class-decl name='legacy_qp_attr' size-in-bits='1088'", "class-decl name='legacy_qp_attr' size-in-bits='1152'", "size"),
]


@pytest.mark.parametrize("was, other, told", CHANGES)
def test_a_change_is_noticed(tmp_path, library, was, other, told):
    text = released.load(library)
    assert was in text, "the record has no such text any more; adapt this test"
    status, report = compare(tmp_path, text.replace(was, other), library)
    assert status & 4 and told in report, report
