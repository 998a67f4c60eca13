# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""No thread is cancelled inside any of the eight functions. They make system calls that are
cancellation points."""

import os

import pytest

ROWS = {"before": 7, "at cancellation points": 6, "anywhere": 6}


@pytest.mark.parametrize("where", ROWS)
def test_every_row_holds(rows, where):
    if where == "anywhere" and "thread" in os.environ.get("XRC_COMPAT_TEST_SANITIZE", ""):
        pytest.skip("a thread cancelled inside ThreadSanitizer's runtime keeps its locks")
    rows(ROWS[where], "twoway-cancel", "cancelled " + where, settings=["--devices=1"])
