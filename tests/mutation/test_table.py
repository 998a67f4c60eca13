# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of mutations fits the code at hand. It does not run them: run.py does, in a copy."""

import collections
import json
import re

import pytest

import rows

ROWS = rows.table()


def test_every_row_applies(source_root):
    """Rewritten code needs rewritten rows. Change a row's text, or remove a row that has no meaning
    any more."""
    wrong = []
    for row in ROWS:
        try:
            rows.mutated(row, (source_root / row.path).read_text())
        except (OSError, ValueError) as error:
            wrong.append(str(error))
    assert not wrong, "\n".join(["adapt tests/mutation/*.rows:", *wrong])


def test_every_test_exists(build_root):
    """A row names a test of meson. Each word of its pytest expression is in the test's file."""
    tests = {
        test["name"]: [word for word in test["cmd"] if word.endswith(".py")]
        for test in json.loads((build_root / "meson-info" / "intro-tests.json").read_text())
    }
    wrong = []
    for row, test in ((row, test) for row in ROWS for test in row.tests):
        name, _, expression = test.rstrip("]").partition(" [")
        text = "".join((build_root / file).read_text() for file in tests.get(name, []))
        words = set(re.findall(r"\w+", expression)) - {"and", "or", "not"}
        if name not in tests or [word for word in words if word not in text]:
            wrong.append((row.name, test))
    assert not wrong


@pytest.mark.parametrize("room", ["companions", "compat", "elf", "modern", "shim",
                                  "subprojects/softhca", "tools"])
def test_every_file_has_a_row(source_root, room):
    """The score tells nothing about a file without a row."""
    files = {str(path.relative_to(source_root)) for path in (source_root / room).rglob("*.c")}
    product = {file for file in files if not file.startswith("subprojects/softhca/tests/")}
    assert product and not product - {row.path for row in ROWS}


def test_names_are_unique():
    """run.py selects rows by name."""
    assert not [
        name for name, count in collections.Counter(row.name for row in ROWS).items() if count > 1
    ]
