# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A destroy takes an event that another thread is about to read; neither hangs.
EVENT_RACE_ROUNDS=1000000 is the full test."""

import os

import pytest

from test_events import NOT_UNDER_THREAD_SANITIZER, THREAD_SANITIZER

# Of each row; some milliseconds each on a busy machine.
ROUNDS = int(os.environ.get("EVENT_RACE_ROUNDS", "0"))


@pytest.mark.parametrize("part, count", [("can be cancelled", 4), ("asynchronously", 1)])
def test_every_row_holds(rows, part, count):
    if THREAD_SANITIZER and part in NOT_UNDER_THREAD_SANITIZER:
        pytest.skip(NOT_UNDER_THREAD_SANITIZER[part])
    rows(count, "twoway-race", part, settings=["--devices=1"], timeout=100 + ROUNDS // 10)
