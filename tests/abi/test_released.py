# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The library's ABI, functions and types, is the released one. abidw of libabigail reads it.

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
    if not released.record_for(library):
        pytest.skip("what was released is recorded for x86-64 and i386 only")
    if ".debug_info" not in elf.readelf("-S", library):
        pytest.skip("this build has no debug information, which names the types")
    assert not released.missing_lines(released.load(library), library), __doc__


SAMPLE = """
enum state { RESET, INIT };
struct attr { enum state state; int number; union { void *cq; short port; } element; int (*call)(char); };
struct object { struct attr attr[2]; };
struct ibv_theirs { int any; };
int first(const struct object *object, struct ibv_theirs *theirs);
int second(unsigned value, ...);
int first(const struct object *object, struct ibv_theirs *theirs) { return object->attr[0].number + theirs->any; }
int second(unsigned value, ...) { return (int)value; }
"""
# (part of the sample, a change of it, the line of the record that then no longer holds)
CHANGES = [
    ("int second", "static __attribute__((used)) int second", "second: int (unsigned int, ...)"),
    ("int first", "long first", "first: int (const struct object *, struct ibv_theirs *)"),
    ("RESET, INIT", "INIT, RESET", "enum state: INIT = 1"),
    ("state; int number;", "state; int pad; int number;", "struct attr: number at 4: int"),
    ("void *cq;", "int cq;",
     "struct attr: element at 8: union { cq at 0: void *; port at 0: short int }"),
    ("(char)", "(short)", "struct attr: call at 16: int (char) *"),
    ("attr[2]", "attr[3]", "struct object: 48 bytes"),
]
HARMLESS = [("struct ibv_theirs { int", "struct ibv_theirs { long"),
            ("int second(unsigned value, ...);", "int third(void) { return 3; }")]


def build(folder, name, text, run):
    (folder / f"{name}.c").write_text(text)
    done = run([
        "gcc", "-m64", "-g", "-w", "-fPIC", "-shared", folder / f"{name}.c", "-o",
        folder / f"{name}.so"
    ])
    assert done.returncode == 0, done.stderr
    return folder / f"{name}.so"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, run):
    return released.describe(build(tmp_path_factory.mktemp("sample"), "sample", SAMPLE, run))


@pytest.mark.parametrize("was, other, line", CHANGES)
def test_a_change_is_noticed(tmp_path, recorded, run, was, other, line):
    assert line in recorded
    changed = build(tmp_path, "changed", SAMPLE.replace(was, other), run)
    assert line in released.missing_lines(recorded, changed)


@pytest.mark.parametrize("was, other", HARMLESS)
def test_additions_and_types_of_others_are_allowed(tmp_path, recorded, run, was, other):
    assert was in SAMPLE
    changed = build(tmp_path, "changed", SAMPLE.replace(was, other, 1), run)
    assert not released.missing_lines(recorded, changed)
