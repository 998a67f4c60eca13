# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Async events of a one-way program: what is in them, who gets them, and every way old programs treat them."""

import re

import pytest

ROWS = {"flagged": 15, "thread": 8}


@pytest.mark.parametrize("group", ROWS)
def test_rows(rows, group):
    """Not a word on stderr: rows() sees to that."""
    rows(ROWS[group], "twoway-events", group, settings=["--devices=1"])


def test_nothing_is_warned_of_either(on_wire):
    """With XRC_COMPAT_VERBOSE there is the banner of each process, and that is all."""
    done = on_wire("twoway-events", "flagged", "acked", env={"XRC_COMPAT_VERBOSE": "1"})
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert lines and all(re.match(r"xrc-compat\[\d+\]: version ", line) for line in lines), done.stderr
