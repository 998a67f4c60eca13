# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Async events of a one-way program: their content, threads that wait for them, and a destroy that
takes an event from a reader. EVENT_RACE_ROUNDS=1000000 is the full test of the last."""

import os

import pytest

ROWS = {"flagged": 2, "thread": 5, "asynchronously": 1}
THREAD_SANITIZER = "thread" in os.environ.get("SOFTHCA_TEST_SANITIZE", "")
NOT_UNDER_THREAD_SANITIZER = {
    "thread": "ThreadSanitizer holds back the signals that these rows send into read()",
    "asynchronously": "a thread cancelled inside ThreadSanitizer's runtime keeps its locks",
}


@pytest.mark.parametrize("group", ROWS)
def test_every_row_holds(rows, group):
    if THREAD_SANITIZER and group in NOT_UNDER_THREAD_SANITIZER:
        pytest.skip(NOT_UNDER_THREAD_SANITIZER[group])
    rows(ROWS[group], "one-way-events", group)


@pytest.mark.parametrize("part, count", [("can be cancelled", 2), ("asynchronously", 1)])
def test_a_reader_and_a_destroy_do_not_hang(rows, part, count):
    if THREAD_SANITIZER and part in NOT_UNDER_THREAD_SANITIZER:
        pytest.skip(NOT_UNDER_THREAD_SANITIZER[part])
    rounds = int(os.environ.get("EVENT_RACE_ROUNDS", "0"))
    rows(count, "one-way-race", part, timeout=100 + rounds // 10)


def test_every_row_holds_when_a_reader_is_cancelled_after_its_read(rows):
    rows(2, "one-way-cancel-after-read")
