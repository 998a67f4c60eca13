# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of mutations: reads the *.rows files beside this one."""

import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Row:
    path: str    # of the file to change, in the source tree
    tests: tuple # of which one must fail: "NAME" of meson, "NAME [EXPRESSION]" for pytest's -k
    title: str   # the wrong behaviour
    old: str     # occurs exactly once in the file
    new: str

    @property
    def name(self):
        return f"{self.path}: {self.title}"


# Path, tests, title, the lines of the old text and of the new.
ROW = re.compile(r"@ (.*?) \| (.*?) \| (.*)\n((?:-.*\n)+)((?:\+.*\n)*)")


def lines_of(block):
    return "\n".join(line[1:] for line in block.splitlines())


def parse(text, where):
    """The rows of one file, without its comments and blank lines."""
    body = re.sub(r"^(#.*)?\n", "", text, flags=re.M)
    if left := ROW.sub("", body):
        raise ValueError(f"{where}: this line belongs to no row: {left.splitlines()[0]}")
    return [
        Row(path, tuple(re.split(r"\s*;\s*", tests)), title, lines_of(old), lines_of(new))
        for path, tests, title, old, new in ROW.findall(body)
    ]


def table():
    """All rows, in the order of the files' names."""
    return [
        row for file in sorted(HERE.glob("*.rows")) for row in parse(file.read_text(), file.name)
    ]


def mutated(row, text):
    """@text with the row's change. ValueError if its text does not occur exactly once."""
    count = text.count(row.old)
    if not row.old or count != 1 or row.old == row.new:
        raise ValueError(
            f"{row.name}: its text occurs {count} times in the file, not once, or it does not change"
        )
    return text.replace(row.old, row.new)
