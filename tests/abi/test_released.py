# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The library's functions are the released ones. abidw of libabigail reads their types.

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


SAMPLE = """
struct object { int number; };
int first(const struct object *object, int (*call)(char));
int second(unsigned value, ...);
int first(const struct object *object, int (*call)(char)) { return object->number + call(1); }
int second(unsigned value, ...) { return (int)value; }
"""
FIRST = "first: int (const struct object *, int (char) *)"
SECOND = "second: int (unsigned int, ...)"
# (part of the sample, a change of it, the lines of the record that then no longer hold)
CHANGES = [
    ("int second", "static __attribute__((used)) int second", [SECOND]),
    ("int first", "long first", [FIRST]),
    ("const ", "", [FIRST]),
    ("(char)", "(short)", [FIRST]),
    ("unsigned value", "int value", [SECOND]),
    ("int second(unsigned value, ...);", "int third(void) { return 3; }", []),
]


def build(folder, text, run):
    (folder / "sample.c").write_text(text)
    done = run([
        "gcc", "-m64", "-g", "-w", "-fPIC", "-shared", folder / "sample.c", "-o",
        folder / "sample.so"
    ])
    assert done.returncode == 0, done.stderr
    return folder / "sample.so"


@pytest.mark.parametrize("was, other, lines", CHANGES)
def test_a_change_is_noticed_and_an_addition_is_allowed(tmp_path, run, was, other, lines):
    assert was in SAMPLE
    count = -1 if lines else 1
    changed = build(tmp_path, SAMPLE.replace(was, other, count), run)
    assert released.missing_lines([FIRST, SECOND], changed) == lines
