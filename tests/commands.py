# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The commands of xrc-compat and their options, from its source."""

import os
import pathlib
import re

TOOLS = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "tools"

# As the table in tools/main.c has them.
COMMANDS = re.findall(r'^\t\{ "([\w-]+)",', (TOOLS / "main.c").read_text(), re.M)


def options_of(text):
    """The options in @text (-o, --json ...) without --help, which all commands have."""
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text)) - {"--help"}


def usage_of(command):
    """The names in the command's table of options."""
    main, header = (TOOLS / "main.c").read_text(), (TOOLS / "common" / "command.h").read_text()
    shared = dict(re.findall(r"^#define (\w+) \\\n((?:.*\\\n)*.*)$", header + main, re.M))
    [table] = re.findall(rf'^\t\{{ "{command}", (\w+),', main, re.M)
    rows = "".join(
        re.findall(rf"^static const struct option_row {table}\[\] = \{{(.*?)\{{ 0 \}}", main,
                   re.M | re.S))
    text = re.sub(r"\b[A-Z_]{5,}\b", lambda name: shared.get(name.group(), ""), rows)
    return " ".join(re.findall(r"\{ '.', \"(-[\w-]+)\"", text))
