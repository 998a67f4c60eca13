# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A destroy takes an event that another thread is about to read; neither hangs.
EVENT_RACE_ROUNDS=1000000 is the full test."""

import os

# Of each row; some milliseconds each on a busy machine.
ROUNDS = int(os.environ.get("EVENT_RACE_ROUNDS", "0"))


def test_every_row_holds(rows):
    rows(4, "twoway-race", settings=["--devices=1"], timeout=100 + ROUNDS // 10)
