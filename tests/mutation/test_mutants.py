# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each file of the product has mutants and tests that must notice them."""

import json

import pytest

import mutants  # which finds the modules of tests/static
import layers
import sources

# The one is empty, the functions of the other come from its macros.
WITHOUT_FUNCTIONS = {"companions/name.c", "companions/umad_forward.c"}


def product(root):
    return [path for path, _ in sources.files(root, "*.c", set(layers.SOURCE_FOLDERS) - {"abi"})]


def test_every_file_has_mutants_and_tests(source_root):
    files = product(source_root)
    assert len(files) > 100
    without = {path for path in files
               if not mutants.mutants_of(path, (source_root / path).read_text())}
    assert without == WITHOUT_FUNCTIONS
    assert [path for path in files if not mutants.tests_of(path, mutants.rooms())] == []


def test_every_room_and_test_exists(source_root, build_root):
    names = {test["name"] for test in
             json.loads((build_root / "meson-info" / "intro-tests.json").read_text())}
    files = product(source_root)
    for beginning, tests in mutants.rooms().items():
        assert [path for path in files if path.startswith(beginning)], beginning
        assert set(tests) <= names, beginning


@pytest.mark.parametrize("line, kind, changed", [
    ("if (a &&\n\t    (b))", "negate", "if (!(a &&\n\t    (b)))"),
    ('if (is(a, ")"))', "negate", 'if (!(is(a, ")")))'),
    ("} else if (a >= b)", "bound", "} else if (a > b)"),
    ("while (a ||\n\t       b)", "logic", "while (a &&\n\t       b)"),
    ("at = end - 1;", "step", "at = end - 0;"),
    ("return true;", "truth", "return false;"),
    ("return -EINVAL;", "return", "return 0;"),
    ("call(a,\n\t     b);", "drop", ";\n"),
    ("a->b[1] |= c;", "drop", ";"),
    ("(void)call(a);", "drop", ";"),
])
def test_operator(line, kind, changed):
    text = f"static int f(int a,\n\t\tint b)\n{{\n\t/* if (a) return b; */\n\t{line}\n}}\n"
    [mutant] = [mutant for mutant in mutants.mutants_of("a.c", text) if mutant.operator == kind]
    assert mutant.applied(text) == text.replace(line, changed)
    assert (mutant.function, mutant.line) == ("f", 5)


@pytest.mark.parametrize("line", ["int a = f(b);", "return 0;", "for (;;)", "free(a);", "a++;"])
def test_no_operator_fits(line):
    assert mutants.mutants_of("a.c", f"int f(void)\n{{\n\t{line}\n}}\n") == []


def test_each_file_has_its_turn():
    text = "void f(void)\n{\n\ta();\n\tb();\n\tc();\n}\n"
    found = mutants.mutants_of("a.c", text) + mutants.mutants_of("b.c", text)
    assert [mutant.path for mutant in mutants.spread(found[:4])] in (
        ["a.c", "b.c", "a.c", "a.c"], ["b.c", "a.c", "a.c", "a.c"])


@pytest.mark.parametrize("attribute", ["constructor", "visibility(\"default\")", "cold, format(printf, 1, 2)"])
def test_an_attribute_is_no_name(attribute):
    text = f"static __attribute__(({attribute})) void named(void)\n{{\n\tcall();\n}}\n"
    assert [mutant.function for mutant in mutants.mutants_of("a.c", text)] == ["named"]
