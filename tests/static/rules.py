# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The project's rules that a compiler does not check, one function per rule. A function takes the
root directory and returns a list of complaints, "file:line: what is wrong". An empty list means
that the rule holds. Standard library only."""

import pathlib
import re

import layers
from layers import LIBRARY, SOURCE_FOLDERS
from sources import (LICENCE, SOFTHCA, blank, c_files, code_lines, files, python_files, read,
                     without_comments)

# Files without a licence line: the licence texts, files that people read as they are, and formats
# without comments.
NO_LICENCE_LINE = re.compile(
    r"^((subprojects/softhca/)?(LICENSES/.*|COPYING)|\.gitignore|.*\.json|packaging/debian/(changelog|copyright|source/format))$"
)

LOG_FILE = "base/log.c"


def spdx(root):
    """The first line names the licence, or the second line if the first is '#!'."""
    bad = []
    for relative, path in files(root):
        if NO_LICENCE_LINE.match(relative):
            continue
        lines = read(path).split("\n")
        first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
        if LICENCE not in first:
            bad.append(f"{relative}:1: the first line does not carry '{LICENCE}'")
        elif first.startswith("//"):
            bad.append(
                f"{relative}:1: the first line is written /* {LICENCE} */ in all other files")
    return bad


def comments(root):
    """A comment begins with /*, as all others do. Published headers have a form of their own."""
    return [f"{relative}:{number}: a comment begins with /*"
            for relative, path in c_files(root) if not relative.startswith("include/")
            for number, line in enumerate(read(path).split("\n"), 1)
            if re.match(r"\s*(//|/\*\*)(?!/)", line)]


PRINTS = re.compile(
    r"(?<![\w.>])(printf|fprintf|vprintf|vfprintf|dprintf|vdprintf|puts|fputs|putchar|fputc|fwrite|perror|"
    r"psignal|syslog|vsyslog|warnx?|errx?|error|abort|exit|_exit|assert|__assert_fail|write)\s*\(")


def printing(root):
    """Inside the library only the log file prints, and nothing ends the process. modern/kernel.c
    writes commands to the kernel."""
    bad = []
    for relative, path in c_files(root, LIBRARY):
        for number, line in code_lines(path):
            for name in PRINTS.findall(line):
                if relative in (LOG_FILE, "modern/kernel.c") and name == "write":
                    continue
                bad.append(
                    f"{relative}:{number}: {name}(): the library neither prints nor ends the process"
                )
    return bad


def foreign_text(root):
    """The commands print by print_text(), which lets no escape sequence pass, or a constant."""
    return [f"{relative}:{number}: {found.group(1)}(): print_text() prints without escape sequences"
            for relative, path in c_files(root, ("tools",))
            if not relative.startswith("tools/text/")
            for number, line in code_lines(path)
            for found in re.finditer(r"(?<![\w.>])(v?f?printf|f?puts)\s*\(", line)
            if "print" in found.group(1) or not re.match(
                r'("|text_shell_word|launcher->|[^,]*\? )', line[found.end():])]


# What the emulator, a project of its own, has of xrc-compat: a file of each, and the beginning of
# the function that is the same in both. "": the whole file is.
COPIES = (("base/libc.h", "base/libc.h", ""), ("scripts/refuse-overlap", "refuse-overlap", ""),
          ("tools/text/streams.c", "cli/streams.c", "static void fill("))

# What both know of launchers, loaders, RC and compilers, each in code of its own: a file of each,
# and what stands in both in the same order. Each project builds without the other, so neither
# meson.build can take the options of the compiler from the other.
FACTS = (("tools/job/job.c", "lookup/host.c", r'^\t+(?:\{ )?("\w+"),'),
         ("tools/files/elf_info.c", "cli/preload.c", r'"/lib(?:64)?/ld-linux[-\w]*\.so\.2"'),
         ("tools/files/preload.c", "cli/preload.c", r'strpbrk\(path, ".*?"\)'),
         ("abi/rc_masks.h", "tests/e2e/rig.h", r"#define (MASK_(?:.*\\\n)*.*)"),
         ("meson.build", "meson.build", r"^  '(-[Wf][\w=-]+)',$"),
         ("meson.build", "meson.build", r"^newer_functions = (.*)"))


def copies(root):
    """A copy does not differ from what it is a copy of, and a fact is the same in both."""
    def text_of(name):
        path = pathlib.Path(root) / name
        return read(path) if path.exists() else ""

    def part(name, begin):
        text = text_of(name)
        return text[text.find(begin):].split("\n}\n")[0] if begin else text

    def facts(name, pattern):
        return re.findall(pattern, text_of(name), re.M)

    return [f"{SOFTHCA}{copy}:1: {begin or 'it'} is not as in {original}"
            for original, copy, begin in COPIES
            if part(original, begin) != part(SOFTHCA + copy, begin)] + [
                f"{SOFTHCA}{copy}:1: {' '.join(facts(SOFTHCA + copy, pattern))} is not as in {original}"
                for original, copy, pattern in FACTS
                if facts(original, pattern) != facts(SOFTHCA + copy, pattern)]


C_COMMENT = re.compile(r"/\*.*?\*/", re.S)

COMMENT = re.compile(r'#[^\n]*|"""(?:\\.|[^\\])*?"""', re.S)    # of Python and meson

FILE_NAME = re.compile(
    r"(?<![\w./<>{}$*-])(?!include/linux/)([\w-]+)/[\w/.*-]+\.(?:[ch]|py|md|tab|build)\b")


def named_files(root):
    """A file that a comment names is there, from a directory above the comment's own file. A name
    whose first part is no directory there is of another project, as the kernel's headers."""
    bad = []
    for relative, path in [*c_files(root), *python_files(root), *files(root, "meson.build")]:
        above = [pathlib.Path(root) / parent for parent in pathlib.PurePath(relative).parents]
        comment = C_COMMENT if path.suffix in (".c", ".h", ".in") else COMMENT
        for name in FILE_NAME.finditer("\n".join(comment.findall(read(path)))):
            if any((parent / name[1]).is_dir() for parent in above) and not any(
                    any(parent.glob(name[0])) for parent in above):
                bad.append(f"{relative}:1: names {name[0]}, which is not there")
    return bad


def machine_paths(root):
    """No file names a home directory of the author's machine."""
    pattern = re.compile(r"(?<![\w.$})-])/(home|root)/")
    return [f"{relative}:{number}: names {found.group(0)}"
            for relative, path in files(root)
            for number, line in enumerate(read(path).split("\n"), 1)
            for found in pattern.finditer(line)]


def columns(root, limit=120):
    """Documents fit a terminal. A row of a table is one line, however long."""
    return [f"{relative}:{number}: a line of {len(line)} columns; the limit is {limit}"
            for relative, path in files(root, "*.md")
            for number, line in enumerate(read(path).split("\n"), 1)
            if len(line) > limit and not line.startswith("|")]


# A string counts as two columns: a message stays in one piece, so that grep finds it. The text of a
# Python string of several lines is a program or data of its own; a docstring is not.
STRING = re.compile(r'"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')

TEXT = re.compile(r'((?<=\S) ?)?[rbf]*"""(?:\\.|[^\\])*?"""', re.S)


def code_columns(root, limit=100):
    """Code fits in @limit columns, with a tab of 8."""
    def shortened(string):
        return string.group() if string.group() == '"""' else "''"

    bad = []
    for relative, path in [*c_files(root), *python_files(root), *files(root, "meson.build")]:
        text = TEXT.sub(lambda m: m.group() if m.group(1) is None else blank(m), read(path))
        for number, line in enumerate(text.split("\n"), 1):
            columns = len(STRING.sub(shortened, line.expandtabs(8)).rstrip())
            if columns > limit:
                bad.append(
                    f"{relative}:{number}: a line of {columns} columns; the limit is {limit}")
    return bad


def function_length(root, limit=40):
    """A function, from its brace to its brace in column 0, has at most @limit lines."""
    bad = []
    for relative, path in c_files(root):
        start = None
        for number, line in enumerate(read(path).split("\n"), 1):
            if line.startswith("{"):
                start = number
            elif line.startswith("}") and start:
                if number - start + 1 > limit:
                    bad.append(
                        f"{relative}:{start}: a function of {number - start + 1} lines; the limit is {limit}"
                    )
                start = None
    return bad


# Our frozen copy of a published API.
FROZEN = re.compile(r"^include/ofed/")


def file_length(root, limit=512):
    """A file has one purpose, and at most @limit lines."""
    bad = []
    for relative, path in [*c_files(root), *python_files(root)]:
        lines = read(path).count("\n")
        if lines > limit and not FROZEN.match(relative):
            bad.append(
                f"{relative}:1: a file of {lines} lines; the limit is {limit}: split it by purpose")
    return bad


# RHEL 8 and SLES 15 have Python 3.6: it runs what a build needs, and tells that the tests need 3.9.
RUN_BY_BUILD = re.compile(
    r"(abi|scripts)/[^/]*\.py$|(.*/)?((softhca_)?fixtures\.py|refuse-overlap)$")

LATER_THAN_3_6 = re.compile(
    r" := |\.(removeprefix|removesuffix)\(|\b(capture_output|dataclass\w*|text=)")


def python_version(root):
    """What a build runs is no later than Python 3.6."""
    return [f"{relative}:{number}: {found.group(0)} is later than Python 3.6"
            for relative, path in files(root) if RUN_BY_BUILD.match(relative)
            for number, line in enumerate(read(path).split("\n"), 1)
            for found in LATER_THAN_3_6.finditer(line)]


def env_table(root):
    """The names in tools/job/variables.h, in order."""
    table = pathlib.Path(root) / "tools" / "job" / "variables.h"
    return re.findall(r"^\tX\((\w+),", read(table), re.M) if table.exists() else []


def env_variables(root):
    """Every variable that is read stands in the table, and every row of the table is read
    somewhere."""
    known = set(env_table(root))
    seen = set()
    bad = []
    for relative, path in c_files(root, SOURCE_FOLDERS):
        for number, line in enumerate(without_comments(read(path)).split("\n"), 1):
            for name in re.findall(r'"((?:XRC_COMPAT|SOFTHCA)_[A-Z0-9_]+)=?"', line):
                seen.add(name)
                if name not in known:
                    bad.append(
                        f"{relative}:{number}: {name} is missing in tools/job/variables.h")
    bad += [f"tools/job/variables.h:1: {name} is read nowhere" for name in sorted(known - seen)]
    return bad


def undocumented(names, text):
    """Those of @names that @text does not mention as a whole word."""
    return [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def env_manual(root):
    """Every variable of the table has an entry in the manual page of the command that lists
    them."""
    entries = re.findall(r"^\.It Ev (.*)$", "".join(
        read(path) for _, path in files(root, "man/xrc-compat.1")), re.M)
    return [
        f"man/xrc-compat.1:1: {name} is not documented"
        for name in undocumented(env_table(root), "\n".join(entries))
    ]


TREE_RULES = (spdx, comments, layers.includes, layers.include_order, layers.calls,
              layers.modern_verbs, layers.neighbour, printing, foreign_text, copies, named_files,
              machine_paths, columns, code_columns, function_length, file_length, env_variables,
              env_manual, python_version)
