# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The commands of xrc-compat and their options, from its source."""

import os
import pathlib
import re

TOOLS = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "tools"

SOURCES = {path: path.read_text() for path in TOOLS.glob("*/*.c")}
SHARED = dict(re.findall(r"^#define (\w+)\(\w+\) \\\n((?:.*\\\n)*.*)$",
                         (TOOLS / "run" / "run.h").read_text(), re.M))
# {name of the struct: the text of its file}
DEFINITIONS = {name: text for text in SOURCES.values()
               for name in re.findall(r"^const struct command (command_\w+) = ", text, re.M)}
# In the order of tools/main.c.
COMMANDS = [
    re.search(rf'^const struct command {name} = \{{\n\t"([\w-]+)"', DEFINITIONS[name], re.M).group(1)
    for name in re.findall(r"&(command_\w+),", (TOOLS / "main.c").read_text())
]


def options_of(text):
    """The options in @text (-o, --json ...) without --help, which all commands have."""
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text)) - {"--help"}


def usage_of(command):
    """The names in the command's table of options."""
    text = DEFINITIONS["command_" + command.replace("-", "_")]
    table = re.search(rf'^\t"{command}", (\w+),', text, re.M).group(1)
    [rows] = re.findall(rf"^static const struct option_row {table}\[\] = \{{(.*?)\{{ 0 \}}", text,
                        re.M | re.S)
    rows = re.sub(r"\b[A-Z_]{5,}\b", lambda name: SHARED.get(name.group(), ""), rows)
    return " ".join(re.findall(r'\{ "(-[\w-]+)"', rows))
