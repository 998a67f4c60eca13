# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Async events of a one-way program: their content, the processes that get them, and every way in which old programs treat them."""

import re
import shutil

import pytest

ROWS = {"flagged": 15, "thread": 6, "cancel": 4}


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


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_cancellation_that_comes_late(on_wire):
    """The signal of pthread_cancel() is sent a little after it has looked at the thread, as when it loses its processor."""
    late = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=tgkill", "-e", "inject=tgkill:delay_enter=1ms"]
    done = on_wire("twoway-events", "cancel", "cancelled asynchronously 200", settings=["--devices=1"], through=late)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert done.stdout.startswith("ok cancelled asynchronously")
