# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A destroy takes an event that another thread is about to read; nobody hangs. EVENT_RACE_ROUNDS=1000000 for the whole of it."""


def test_rows(rows):
    rows(12, "twoway-race", settings=["--devices=1"])
