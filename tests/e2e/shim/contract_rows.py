# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks what the program `contract` prints."""

import collections
import re

MODES = ("contexts", "processes")

LINE = re.compile(r"(ok|FAIL) (\d(?:\.\d)?) (.*) \[(contexts|processes)\](?:: (.*))?")


def failures(result, group, mode, want):
    """What is wrong with the rows that were printed, a line each; [] if all `want` of them are
    ok."""
    lines = result.stdout.splitlines()
    rows = [LINE.fullmatch(line) for line in lines[1:]]
    found = [line for line, row in zip(lines[1:], rows) if not row or row[1] != "ok"]
    if lines[:1] != [f"rows {want}"] or len(rows) != want:
        found.append(
            f"{group} [{mode}]: {len(rows)} rows came after {lines[:1]}, there should be {want}")
    names = collections.Counter(row[3] for row in rows if row)
    found += [f"two rows are named: {name}" for name, count in names.items() if count > 1]
    if not found and result.returncode:
        found.append(f"exit status {result.returncode}")
    if found and result.stderr:
        found.append(f"stderr: {result.stderr}")
    return found


def check(result, group, mode, want):
    found = failures(result, group, mode, want)
    assert not found, "\n" + "\n".join(found)
