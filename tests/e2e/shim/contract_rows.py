# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks what the program `contract` prints."""

import collections
import pathlib
import re

MODES = ("contexts", "processes")

LINE = re.compile(r"(ok|FAIL) (\d(?:\.\d)?) (.*) \[(contexts|processes)\](?:: (.*))?")


def _sources():
    """{group: the source of its rows}"""
    sources = {}
    for path in pathlib.Path(__file__).parent.glob("rows_*.c"):
        parts = re.split(r'^#define GROUP "(\w+)"$', path.read_text(encoding="utf-8"), flags=re.M)
        sources.update(zip(parts[1::2], parts[2::2]))
    return sources


SOURCES = _sources()


def count(group, mode, without_opened_events=False):
    """How many rows of the group run in this mode. WRONG_DOMAINS() is three rows."""
    source = SOURCES[group]
    rows = len(re.findall(r"^ROW", source, re.M)) + 3 * len(
        re.findall(r"^WRONG_DOMAINS\(", source, re.M))
    if mode == "contexts":
        rows -= len(re.findall(r"^ROW_OF_PROCESSES\(", source, re.M))
    if without_opened_events:
        rows -= source.count("NEEDS_OPENED_EVENTS")
    return rows


def failures(result, group, mode, **options):
    """What is wrong with the rows that were printed, a line each; [] if all of the group's rows
    are ok. Their number comes from the source, so a lost row is noticed. options: of count()."""
    want = count(group, mode, **options)
    lines = result.stdout.splitlines()
    rows = [LINE.fullmatch(line) for line in lines]
    found = [line for line, row in zip(lines, rows) if not row or row[1] != "ok"]
    if len(rows) != want:
        found.append(f"{group} [{mode}]: {len(rows)} rows came, there should be {want}")
    names = collections.Counter(row[3] for row in rows if row)
    found += [f"two rows are named: {name}" for name, times in names.items() if times > 1]
    if not found and result.returncode:
        found.append(f"exit status {result.returncode}")
    if found and result.stderr:
        found.append(f"stderr: {result.stderr}")
    return found


def check(result, group, mode, **options):
    found = failures(result, group, mode, **options)
    assert not found, "\n" + "\n".join(found)
