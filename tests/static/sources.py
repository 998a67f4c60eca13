# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The files of the project, and their text without comments or strings."""

import functools
import pathlib
import re

import listing

LICENCE = "SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only"

SOFTHCA = "subprojects/softhca/"


def home_path(relative):
    """The path of a file below the folder that MAY_INCLUDE names."""
    return relative.removeprefix("subprojects/")


def folder_of(relative):
    """The first directory of a path. The emulator's tests are tests, not its sources."""
    return "tests" if relative.startswith(f"{SOFTHCA}tests/") else home_path(relative).split("/")[0]


def files(root, pattern="*", folders=None):
    """All files of the project under @root as (relative path, path), without what git ignores."""
    root = pathlib.Path(root)
    for relative in listing.paths(root):
        path = root / relative
        if folders and folder_of(relative) not in folders:
            continue
        if path.match(pattern) and path.is_file():
            yield relative, path


@functools.lru_cache(maxsize=None)
def read(path):
    """The text of a file; "" for a binary file."""
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def c_files(root, folders=None):
    for pattern in ("*.[ch]", "*.[ch].in"):
        yield from files(root, pattern, folders)


def python_files(root):
    """The scripts in Python have no suffix."""
    return [(relative, path) for relative, path in files(root)
            if path.suffix == ".py" or read(path).startswith("#!/usr/bin/python3\n")]


def blank(match):
    """The line breaks of the text that is cut out, so that line numbers stay right."""
    return re.sub(r"[^\n]", " ", match.group(0))


@functools.lru_cache(maxsize=None)
def without_comments(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*")', lambda m: m.group(1) or blank(m),
                  text, flags=re.S)


def without_strings(text):
    return re.sub(r'"(?:\\.|[^"\\\n])*"', lambda m: '"' + " " * (len(m.group(0)) - 2) + '"', text)


def code_lines(path):
    """(number, line) of a C file without comments and string contents."""
    return enumerate(without_strings(without_comments(read(path))).split("\n"), 1)
