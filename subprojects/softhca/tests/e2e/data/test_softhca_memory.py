# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Messages between all kinds of memory, in programs that do with their memory what they like."""

import ctypes.util
import os
import re

import pytest

from built import PROGRAMS
from installed import need


@pytest.mark.parametrize("program", ["memory", "memory-own-munmap", "memory-own-calls", "arena"])
def test_all_memory_carries_messages(passes, program):
    passes([], program, timeout=100)


@pytest.mark.on_model("connectx5")  # libmlx5 has its doorbell records in the heap
@pytest.mark.skipif("SOFTHCA_TEST_SANITIZE" in os.environ,
                    reason="the sanitizer has an allocator of its own")
@pytest.mark.parametrize("library", ["tcmalloc_minimal", "jemalloc"])
@pytest.mark.parametrize("program", ["memory", "arena"])
def test_with_another_allocator(passes, program, library):
    name = ctypes.util.find_library(library)
    if not name:
        pytest.skip(f"no lib{library} is installed")
    passes([], program, env={"LD_PRELOAD": name}, timeout=100)


@pytest.mark.any_model
@pytest.mark.parametrize("limit", ["-v 600000", "-f 100000"])
@pytest.mark.parametrize("program", ["memory", "arena"])
def test_with_little_room(below, program, limit):
    """With a limit of the file size the daemon shares no memory: the file would be too long."""
    below([], "sh", "-c", f'ulimit {limit}; exec "$0"', PROGRAMS / f"softhca-{program}", timeout=100)


# Of the send queue of an XRC target, which has no entries.
NO_BYTES = """{
    libmlx5 asks for 0 bytes
    Memcheck:BadSize
    fun:posix_memalign
    obj:*/libmlx5*
}"""


@pytest.mark.skipif("SOFTHCA_TEST_SANITIZE" in os.environ,
                    reason="valgrind runs no program with a sanitizer")
def test_the_preload_uses_no_memory_that_is_not_set(below, run, in_memory):
    """A plain CQ, whose start_poll libmlx4 does not set, and later commands."""
    need("valgrind")
    options = ["--error-exitcode=9"]
    version = re.search(r"(\d+)\.(\d+)", run(["valgrind", "--version"]).stdout).groups()
    if tuple(map(int, version)) >= (3, 22):
        (in_memory / "known").write_text(NO_BYTES)
        options.append(f"--suppressions={in_memory / 'known'}")
    below([], "valgrind", *options, PROGRAMS / "softhca-completions", "one event per arming",
          timeout=100)
