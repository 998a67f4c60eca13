# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The project's rules that a compiler does not check, one function per rule. A function takes the
root directory and returns a list of complaints, "file:line: what is wrong". An empty list means
that the rule holds. Standard library only."""

import functools
import os
import pathlib
import re

import listing

LICENCE = "SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only"

# Files without a licence line: the licence texts, files that people read as they are, and formats
# without comments.
NO_LICENCE_LINE = re.compile(
    r"^((subprojects/softhca/)?(LICENSES/.*|COPYING)|\.gitignore|.*\.json|packaging/debian/(changelog|copyright|source/format))$"
)

SOURCE_FOLDERS = ("abi", "elf", "companions", "shim", "compat", "two_way", "base", "modern", "table",
                  "tools", "softhca")

# Includes run one way: files of the directory in the key may include that directory and the listed
# ones, and nothing else of this project.
MAY_INCLUDE = {
    "abi": (),
    "elf": (),
    "companions": ("elf",),
    "table": (),
    "modern": ("elf", "abi"),
    "base": ("abi",),
    "two_way": ("base", "modern", "elf", "abi"),
    "compat": ("two_way", "base", "modern", "table", "abi"),
    "shim": ("compat", "two_way", "base", "modern", "elf", "abi"),
    "tools": ("table", "abi"),
    "softhca": (),
}

# Single files that other directories may include as well. Each includes nothing else of this
# project.
SHARED_FILES = {
    "tools": {"modern/modern.h", "modern/table.h", "modern/tracer.h"},
}

# Directories in the order of their includes: each may include those before it in its row, and none
# of another row. A command's directory includes those that the commands share, and no other
# command's.
ROOMS = {
    "tools": (("text", "aside", "job", "files", "stack", "program", "run"),),
    "softhca": (("base", "model", "machine", "fabric", "objects", "qp", "capture", "wire", "uverbs", "cm",
                 "control", "server", "cli"),
                ("own", "lookup", "rings", "client")),
}

LOG_FILE = "base/log.c"

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


def name_from_root(relative, name):
    """The file that an include of "room/file.h" names: each project has its own rooms."""
    return f"{SOFTHCA}{name}" if relative.startswith(SOFTHCA) else name


def include_lines(root):
    """(file, "file:line", included name, our file of that name or None) for each include."""
    known = {relative for relative, _ in c_files(root)}
    for relative, path in c_files(root, MAY_INCLUDE):
        for number, line in enumerate(without_comments(read(path)).split("\n"), 1):
            if found := re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line):
                name = found.group(1)
                beside = os.path.normpath(f"{os.path.dirname(relative)}/{name}")
                yield (relative, f"{relative}:{number}", name,
                       next((target for target in (beside, name_from_root(relative, name))
                             if target in known), None))


def includes(root):
    """Each directory includes only what MAY_INCLUDE, SHARED_FILES and ROOMS allow."""
    headers = {relative for relative, _ in c_files(root, MAY_INCLUDE)}
    bad = []
    for relative, place, name, target in include_lines(root):
        if fault := (include_fault(relative, target)
                     if target else foreign_fault(relative, name, headers)):
            bad.append(f"{place}: {folder_of(relative)}/ includes {name}: {fault}")
    return bad


def include_fault(relative, target):
    """Why one of our files may not include another; None if it may."""
    (home, room), (folder, other) = (home_path(path).split("/")[:2]
                                     for path in (relative, target))
    if folder != home:
        allowed = target in SHARED_FILES.get(home, ()) or folder in MAY_INCLUDE[home]
        return None if allowed else f"only {', '.join(MAY_INCLUDE[home])}"
    if other == room or "/" not in home_path(target).removeprefix(home + "/") or home not in ROOMS:
        return None
    before = ROOMS[home][0] if home == "tools" else ()
    for row in ROOMS[home]:
        before = row[:row.index(room)] if room in row else before
    return None if other in before else f"only {', '.join(before) or 'its own files'}"


def foreign_fault(relative, name, headers):
    """Why a file may not include a header that is not ours by that name; None if it may."""
    home = folder_of(relative)
    if name.startswith("infiniband/") and name != "infiniband/verbs.h" and home in (
            "shim", "compat", "two_way", "base", "modern", "tools"):
        return "of rdma-core only the public verbs.h"
    # The compiler's search path would lead there, and include_fault() would not see it.
    homes = {folder_of(header) for header in headers if header.endswith("/" + name)}
    return f"a header of {', '.join(sorted(homes))}/: name it by its room" if homes - {home} else None


def first_includes(text):
    """(line number, '"' or '<', name) of the includes at the head of a file."""
    begun = False
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        if found := re.match(r'#include ([<"])([^>"]+)', line):
            begun = True
            yield (number, *found.groups())
        elif begun and line.strip():
            return


def include_order(root):
    """First "file.h" of the same directory, and among them the file's own. Then <room/file.h> of
    this project, then the system's. shim.h may stand last: it renames what other headers
    declare. abi/ compares headers, so their order has a meaning there."""
    rooms = {room for relative, _ in c_files(root, SOURCE_FOLDERS)
             for room in home_path(relative).split("/")[:2]}
    bad = []
    for relative, path in c_files(root, set(SOURCE_FOLDERS) - {"abi"}):
        reached = -1
        for number, quote, name in first_includes(read(path)):
            order = 0 if quote == '"' else 1 if name.split("/")[0] in rooms else 2
            own = pathlib.PurePath(name).stem == path.stem and quote == '"'
            if quote == '"' and "/" in name:
                bad.append(f"{relative}:{number}: {name} is in another directory: <{name}>")
            elif (order < reached or (own and reached >= 0)) and name != "shim.h":
                bad.append(f"{relative}:{number}: {name} stands too late")
            reached = max(order, reached) if name != "shim.h" else 2
    return bad


# Directories whose files call each other one way only, those in directories below included.
CALLS_ONE_WAY = ("base", "compat", "elf", "modern", "shim", "table", "two_way", "subprojects/softhca",
                 "tools")
# A hook has the name of a function of the C library: a call by that name is one of the library.
DEFINITION = re.compile(
    r"^(?!static\b|HOOK\b)[A-Za-z_][\w \t*]*?\b(\w+)\([^;{]*\)[ \t]*\n\{", re.M)


def called_files(root, room):
    """{file: files of the same directory whose functions it names}. A header is a part of its .c."""
    texts = {relative: without_strings(without_comments(read(path)))
             for relative, path in files(root, "*.c", {folder_of(room + "/")})
             if relative.startswith(room + "/")}
    home = {name: relative for relative, text in texts.items() for name in DEFINITION.findall(text)}
    return {relative: {home[name] for name in re.findall(r"\w+", text) if name in home} - {relative}
            for relative, text in texts.items()}


def calls(root):
    """No circle of calls between the files of a directory."""
    bad = []
    for room in CALLS_ONE_WAY:
        called = called_files(root, room)
        # Whatever calls no other file of the rest is in no circle.
        while done := [relative for relative in called if not called[relative] & called.keys()]:
            called = {relative: called[relative] for relative in called if relative not in done}
        bad += [f"{relative}:1: in a circle of calls by "
                f"{', '.join(sorted(called[relative] & called.keys()))}" for relative in called]
    return bad


def modern_verbs(root):
    """Only modern/ calls a verb or reaches into rdma-core's extended context."""
    bad = []
    for relative, path in c_files(root, ("shim", "compat", "two_way", "base", "table")):
        for number, line in code_lines(path):
            # A definition starts in column 0; a call is indented. SHIM_EXPORT(ibv_x) names a verb
            # without calling it.
            for name in re.findall(r"(?<=[\s(!=,*&|?:-])(ibv_\w+)\s*\(",
                                   line if line[:1].isspace() else ""):
                bad.append(f"{relative}:{number}: calls {name}; only modern/ does that")
            for name in re.findall(r"\b(verbs_context|verbs_get_ctx\w*|struct ibv_\w+_ex)\b", line):
                bad.append(f"{relative}:{number}: names {name}; only modern/ does that")
    return bad


PRINTS = re.compile(
    r"(?<![\w.>])(printf|fprintf|vprintf|vfprintf|dprintf|vdprintf|puts|fputs|putchar|fputc|fwrite|perror|"
    r"psignal|syslog|vsyslog|warnx?|errx?|error|abort|exit|_exit|assert|__assert_fail|write)\s*\(")


def printing(root):
    """Inside the library only the log file prints, and nothing ends the process. modern/kernel.c
    writes commands to the kernel."""
    bad = []
    for relative, path in c_files(root, ("shim", "compat", "two_way", "base", "table", "modern")):
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


def neighbour(root):
    """The emulator is a project of its own, and names no other project's files."""
    names = re.compile(r"(?<![\w./{-])(?:docs|tests|elf|base|two_way|compat|shim|modern|table|abi|tools|man)/[\w/.-]*\w")
    bad = []
    for relative, path in files(root, folders=("softhca", "tests")):
        for number, line in enumerate(read(path).split("\n"), 1):
            for name in names.findall(line) if relative.startswith(SOFTHCA) else ():
                if not (pathlib.Path(root) / SOFTHCA / name).exists():
                    bad.append(f"{relative}:{number}: names {name}, which is not of this project")
    return bad


# What the emulator, a project of its own, has of xrc-compat: a file of each, and the beginning of
# the function that is the same in both. "": the whole file is.
COPIES = (("base/libc.h", "base/libc.h", ""), ("scripts/refuse-overlap", "refuse-overlap", ""),
          ("tools/text/streams.c", "cli/streams.c", "static void fill("))

# What both know of launchers, loaders, RC and compilers, each in code of its own: a file of each,
# and what stands in both in the same order. Each project builds without the other, so neither
# meson.build can take the options of the compiler from the other.
FACTS = (("tools/job/job.c", "lookup/host.c", r'^\t+(?:\{ )?("\w+"),'),
         ("tools/files/elf_info.c", "cli/preload.c", r'"/lib(?:64)?/ld-linux[-\w]*\.so\.2"'),
         ("tools/files/preload.c", "cli/run.c", r'strpbrk\(path, ".*?"\)'),
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
    for relative, path in [*c_files(root), *files(root, "*.py"), *files(root, "meson.build")]:
        above = [pathlib.Path(root) / parent for parent in pathlib.PurePath(relative).parents]
        comment = COMMENT if path.suffix in (".py", ".build") else C_COMMENT
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
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
TEXT = re.compile(r'((?<=\S) ?)?[rbf]*"""(?:\\.|[^\\])*?"""', re.S)


def code_columns(root, limit=100):
    """Code fits in @limit columns, with a tab of 8."""
    bad = []
    for relative, path in [*c_files(root), *files(root, "*.py"), *files(root, "meson.build")]:
        text = read(path)
        if relative.endswith(".py"):
            text = TEXT.sub(lambda m: m.group() if m.group(1) is None else blank(m), text)
        for number, line in enumerate(text.split("\n"), 1):
            columns = len(STRING.sub("''", line.expandtabs(8)).rstrip())
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


# Kept as they were published, for programs that include them.
FROZEN = re.compile(r"^include/ofed/")


def file_length(root, limit=512):
    """A file has one purpose, and at most @limit lines."""
    bad = []
    for relative, path in [*c_files(root), *files(root, "*.py")]:
        lines = read(path).count("\n")
        if lines > limit and not FROZEN.match(relative):
            bad.append(
                f"{relative}:1: a file of {lines} lines; the limit is {limit}: split it by purpose")
    return bad


# RHEL 8 and SLES 15 have Python 3.6: it runs what a build needs, and tells that the tests need 3.9.
RUN_BY_BUILD = re.compile(r"(abi|scripts)/[^/]*$|(.*/)?(softhca_)?fixtures\.py$")
LATER_THAN_3_6 = re.compile(
    r" := |\.(removeprefix|removesuffix)\(|\b(capture_output|dataclass\w*|text=)")


def python_version(root):
    return [f"{relative}:{number}: {found.group(0)} is later than Python 3.6"
            for relative, path in files(root, "*.py") if RUN_BY_BUILD.match(relative)
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


def documented(names, text):
    """Those of @names that @text does not mention as a whole word."""
    return [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def env_manual(root):
    """Every variable of the table has an entry in the manual page of the command that lists
    them."""
    entries = re.findall(r"^\.It Ev (.*)$", "".join(
        read(path) for _, path in files(root, "man/xrc-compat.1")), re.M)
    return [
        f"man/xrc-compat.1:1: {name} is not documented"
        for name in documented(env_table(root), "\n".join(entries))
    ]


TREE_RULES = (spdx, comments, includes, include_order, calls, modern_verbs, printing, foreign_text,
              neighbour, copies, named_files, machine_paths, columns, code_columns, function_length,
              file_length, env_variables, env_manual, python_version)
