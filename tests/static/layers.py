# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The rules of which directory may include and call which. Each is a function as in rules.py."""

import os
import pathlib
import re

from sources import (SOFTHCA, c_files, code_lines, files, folder_of, home_path, read,
                     without_comments, without_strings)

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

SOURCE_FOLDERS = tuple(MAY_INCLUDE)

# The directories of the library.
LIBRARY = ("shim", "compat", "two_way", "base", "modern", "table", "elf")

# Single files that other directories may include as well. Each includes nothing else of this
# project.
SHARED_FILES = {
    "tools": {"modern/modern.h", "modern/table.h", "modern/tracer.h"},
}

# Directories in the order of their includes: each may include those before it in its row, and none
# of another row. A command's directory includes those that the commands share, and no other
# command's.
ROOMS = {
    "tools": (("text", "aside", "devices", "job", "files", "stack", "program", "run"),),
    "softhca": (("base", "model", "machine", "fabric", "objects", "qp", "capture", "wire", "uverbs", "cm",
                 "control", "server", "cli"),
                ("own", "lookup", "rings", "client")),
}


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
    if home in (*LIBRARY, "tools") and name.startswith("infiniband/") and \
            name != "infiniband/verbs.h":
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
    """{file: files of the same directory whose functions it names}. A header is part of its .c."""
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
    for relative, path in c_files(root, set(LIBRARY) - {"modern"}):
        for number, line in code_lines(path):
            # A definition starts in column 0; a call is indented. SHIM_EXPORT(ibv_x) names a verb
            # without calling it.
            for name in re.findall(r"(?<=[\s(!=,*&|?:-])(ibv_\w+)\s*\(",
                                   line if line[:1].isspace() else ""):
                bad.append(f"{relative}:{number}: calls {name}; only modern/ does that")
            for name in re.findall(r"\b(verbs_context|verbs_get_ctx\w*|struct ibv_\w+_ex)\b", line):
                bad.append(f"{relative}:{number}: names {name}; only modern/ does that")
    return bad


def neighbour(root):
    """The emulator is a project of its own, and names no other project's files."""
    names = re.compile(r"(?<![\w./{-])(?:docs|tests|elf|base|two_way|compat|shim|modern|table|abi|tools|man"
                       r"|companions|scripts|packaging|bench|demo|include)/[\w/.-]*\w")
    bad = []
    for relative, path in files(root, folders=("softhca", "tests")):
        for number, line in enumerate(read(path).split("\n"), 1):
            for name in names.findall(line) if relative.startswith(SOFTHCA) else ():
                if not (pathlib.Path(root) / SOFTHCA / name).exists():
                    bad.append(f"{relative}:{number}: names {name}, which is not of this project")
    return bad
