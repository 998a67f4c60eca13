# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks what the program `contract` prints."""

import re

MODES = ("contexts", "processes")
OK = re.compile(r"ok \d(\.\d)? .* \[(contexts|processes)( exits| killed)?\]")


def failures(result):
    """What is wrong with the rows that were printed, a line each; [] if all are ok."""
    lines = result.stdout.splitlines()
    found = [line for line in lines if not OK.fullmatch(line)]
    found += {f"two rows are named: {line}" for line in lines if lines.count(line) > 1}
    if not found and result.returncode:
        found.append(f"exit status {result.returncode}")
    if found and result.stderr:
        found.append(f"stderr: {result.stderr}")
    return found


def check(result):
    found = failures(result)
    assert not found, "\n" + "\n".join(found)
