# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of mutations: reads the *.rows files beside this one."""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Row:
    path: str    # of the file that is changed, in the source tree
    tests: tuple # meson's names, of which one must fail; "NAME [EXPRESSION]": for pytest's -k
    title: str   # the wrong behaviour
    old: str     # occurs exactly once in the file
    new: str

    @property
    def name(self):
        return f"{self.path}: {self.title}"


def parse(text, where):
    """The rows of one file. A row is a line "@ PATH | TEST; TEST | TITLE", lines "-TEXT" and lines
    "+TEXT"."""
    heading, old, new, rows = None, [], [], []

    def finish():
        if heading is None:
            return
        path, tests, title = (word.strip() for word in heading.split("|"))
        rows.append(
            Row(path, tuple(t.strip() for t in tests.split(";")), title, "\n".join(old),
                "\n".join(new)))

    for number, line in enumerate(text.splitlines(), 1):
        kind, rest = line[:1], line[1:]
        if kind == "@":
            finish()
            heading, old, new = rest, [], []
            if rest.count("|") != 2:
                raise ValueError(
                    f"{where}:{number}: a row begins with '@ PATH | TEST; TEST | TITLE'")
        elif kind == "-" and heading is not None:
            old.append(rest)
        elif kind == "+" and heading is not None:
            new.append(rest)
        elif kind not in ("", "#"):
            raise ValueError(f"{where}:{number}: begins with none of '@', '-', '+', '#'")
    finish()
    return rows


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
            f"{row.name}: its text occurs {count} times in the file; it must occur once, and change"
        )
    return text.replace(row.old, row.new)
