# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Waits in tests: for a condition, with a generous limit, never for a fixed time."""

import os
import pathlib
import re
import select
import signal
import time


def wait_for(ask, what="true value", seconds=30, holds=bool):
    """The first value of ask() for which holds(value). Fails after so many seconds and shows the
    last value."""
    end = time.monotonic() + seconds
    while not holds(value := ask()):
        assert time.monotonic() < end, f"no {what} within {seconds} s: {value!r}"
        time.sleep(0.02)
    return value


def process_state(pid):
    """The letter of /proc/PID/stat, "X" if there is no such process or thread any more."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def thread_states(pid):
    """Of all threads of a process, {"X"} if there is no such process any more."""
    try:
        return {process_state(thread) for thread in os.listdir(f"/proc/{pid}/task")}
    except OSError:
        return {"X"}


def stop(pid):
    """Stops a process and waits until all its threads have stopped: they may still run for a moment
    after the signal."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: thread_states(pid), f"stop of {pid}", holds=lambda states: states == {"T"})


def wait_for_the_end(pid):
    """Of all threads of a killed process: the last one releases what they had open, though the
    first may be a zombie long before."""
    wait_for(lambda: thread_states(pid), f"end of {pid}", holds=lambda states: states <= set("XZ"))


def group_of(pid):
    """The process group of a process, None if there is no such process any more."""
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def wait_for_the_end_of_group(group):
    """Of all processes of a killed group, also of those that are children of children."""
    for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
        if group_of(pid) == group:
            wait_for_the_end(pid)


def read_until(stream, done, seconds=30):
    """Reads a pipe or terminal until done(the bytes so far). Fails at its end, or after so many
    seconds in all."""
    text, end = b"", time.monotonic() + seconds
    while not done(text):
        ready, _, _ = select.select([stream], [], [], max(0, end - time.monotonic()))
        chunk = os.read(stream if isinstance(stream, int) else stream.fileno(),
                        65536) if ready else b""
        assert chunk, f"{'the end' if ready else f'nothing more within {seconds} s'} after {text!r}"
        text += chunk
    return text.decode()


def listens(port, pid="self"):
    """Whether a program listens at this port of TCP, in the network of the process."""
    tables = [pathlib.Path(f"/proc/{pid}/net/{name}") for name in ("tcp", "tcp6")]
    return any(re.search(f":{port:04X} 0+:0000 0A", table.read_text()) for table in tables
               if table.exists())
