# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The C sources are indented and spaced as clang-format does it with .clang-format. Where a long
line is broken is the author's choice, as is how far a comment stands from its line. Macros are left
alone, and spaces beside a star or behind a bracket: clang-format takes some types and casts for
expressions. Lines are compared where clang-format keeps their number."""

import difflib
import re
import shutil
import subprocess

import pytest

import sources


@pytest.fixture(scope="session")
def formatter():
    found = shutil.which("clang-format")
    if not found:
        pytest.skip("clang-format is not installed")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.search(r"version (\d+)", version).group(1)) < 14:
        pytest.skip(f"clang-format is older than 14: {version}")
    return found


def spaced(text):
    """The lines with their indentation, a space for each gap behind it, and none beside a star."""
    return [re.sub(r"(?<=\S) ?([*~]|(?<=\))-|(?<=\) )-) ?", r"\1", re.sub(r"(?<=\S)\s+", " ", line))
            for line in text.splitlines()]


def is_macro(lines, number):
    line, before = lines[number], lines[number - 1] if number else ""
    return bool(re.match(r"#|.*\\$|\t[A-Z_]+\(X\)$", line)) or before.endswith("\\")


def differing(mine, formatted):
    """(number, line, as it must be) of lines that differ in nothing but white space."""
    before, after = spaced(mine), spaced(formatted)
    parts = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    pairs = [(number, number - a + c) for kind, a, b, c, d in parts
             if kind == "replace" and b - a == d - c for number in range(a, b)]
    return [(number + 1, before[number], after[other]) for number, other in pairs
            if re.sub(r"\s", "", before[number]) == re.sub(r"\s", "", after[other])
            and not is_macro(before, number)]


def complaints(formatter, root, work):
    """Formats a copy of the sources in @work, and compares."""
    shutil.copy(root / ".clang-format", work)
    texts = {name: sources.read(path) for name, path in sources.files(root, "*.[ch]")}
    for name, text in texts.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    subprocess.run([formatter, "-i", *texts], cwd=work, check=True)
    return [f"{name}:{number}: {line.strip()}  is to be  {wanted.strip()}  (or its indentation)"
            for name, text in texts.items()
            for number, line, wanted in differing(text, (work / name).read_text())]


def test_the_sources_are_formatted(formatter, source_root, tmp_path):
    found = complaints(formatter, source_root, tmp_path)
    assert not found, "\n".join(["git clang-format shows the lines as they should be", *found])


@pytest.mark.parametrize("line, is_right", [
    ("\tif(a)\n\t\tf(b);", False),
    ("\tif (a)\n\t    f(b);", False),
    ("\ta=b;", False),
    (f"\tf(a,\n\t\t{'b' * 90});", False),
    ("    a = b;", False),
    ("\tif (a)\n\t\tf(b);\t/* a comment */", True),
    (f"\tf(a,\n\t  {'b' * 90});", True),
    ("\ta = f(b,\n\t      c);", True),
    ("#define A(b) (b)+1", True),
    ("#define A(b) \\\n  (b)+1", True),
    ("\tstruct {\n\t\tint a;\n\t} *a;", True),
])
def test_sample(formatter, source_root, tmp_path, line, is_right):
    (tmp_path / "work").mkdir()
    shutil.copy(source_root / ".clang-format", tmp_path)
    (tmp_path / "a.c").write_text(f"void f(void)\n{{\n{line}\n}}\n")
    assert (complaints(formatter, tmp_path, tmp_path / "work") == []) == is_right
