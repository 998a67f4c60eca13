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
    """What stands behind the command's name in the table."""
    [usage] = re.findall(rf'^\t\{{ "{command}", "(.*?)",', (TOOLS / "main.c").read_text(), re.M)
    return usage
