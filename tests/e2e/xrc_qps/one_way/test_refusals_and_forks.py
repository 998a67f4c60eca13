# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Commands that the kernel refuses once, a device that is gone, children forked while threads call
verbs, the memory that the library needs, and threads that outlive main()."""

import os

import pytest


@pytest.mark.parametrize("name, count", [("refusals", 2), ("forks", 5), ("memory", 2)])
def test_every_row_holds(rows, name, count):
    # A handler of a signal that forks frees memory in the child. It interrupts a system call here,
    # not malloc().
    options = os.environ.get("TSAN_OPTIONS", "") + ":report_signal_unsafe=0"
    rows(count, f"one-way-{name}", env={"TSAN_OPTIONS": options})


@pytest.mark.skipif("SOFTHCA_TEST_SANITIZE" in os.environ,
                    reason="the program has a malloc() of its own, as the sanitizer has")
def test_an_allocator_with_fork_handlers(rows):
    rows(2, "one-way-allocator")


@pytest.mark.parametrize("setting", ["--arena=on", "--arena=off"])
def test_the_process_ends_after_its_last_thread(rows, setting):
    """The emulator serves a program whose first thread has ended, and does not keep it alive."""
    rows(1, "one-way", "after main()", settings=[setting])
