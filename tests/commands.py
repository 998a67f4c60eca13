# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The commands of xrc-compat and their options, from its source."""

import os
import pathlib
import re

TOOLS = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "tools"

# Of the table in tools/main.c.
COMMANDS = re.findall(r'^\t\{ "([\w-]+)",', (TOOLS / "main.c").read_text(), re.M)


def options_of(text):
    """-o, --json and the like in @text, without --help, which all commands have."""
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text)) - {"--help"}


def usage_of(command):
    """What stands behind "usage: xrc-compat COMMAND" in the source, pieced together."""
    for path in TOOLS.rglob("*.c"):
        found = re.search(rf'"usage: xrc-compat {command}(?![\w-])(.*?)";', path.read_text(), re.S)
        if found:
            return re.sub(r'"\s*"', "", found.group(1))
    raise AssertionError(f"no usage line of {command}")
