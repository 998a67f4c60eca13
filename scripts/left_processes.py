# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Names the processes that tests have left behind: those that inherited RUN_TESTS_MARK.

usage: left_processes.py

Exit status: 0 if there is no such process, 1 if there is one.
"""

import os
import pathlib
import sys
import time

SECONDS = 5  # a daemon ends a moment after its last program


def has_variable(process, variable):
    """False of a zombie and of another user's process, which have no environment to read."""
    try:
        return variable in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def command(process):
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "(has ended)"


def marked(mark):
    """The processes that inherited this RUN_TESTS_MARK, except for this one."""
    variable = f"RUN_TESTS_MARK={mark}".encode()
    return [process for process in pathlib.Path("/proc").glob("[0-9]*")
            if process.name != str(os.getpid()) and has_variable(process, variable)]


def main():
    mark = os.environ["RUN_TESTS_MARK"]
    end = time.monotonic() + SECONDS
    left = marked(mark)
    while left and time.monotonic() < end:
        time.sleep(0.1)
        left = marked(mark)
    for process in left:
        print(f"left behind: process {process.name}: {command(process)}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
