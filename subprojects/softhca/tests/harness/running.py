# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs programs that must not hang."""

import collections
import functools
import os
import re
import signal
import socket
import subprocess

# How many times in a row the programs of a distribution must succeed.
REPEAT = int(os.environ.get("SOFTHCA_TEST_REPEAT", "1"))



def kills(usual):
    """How many processes a test kills, one after the other, to see that nothing is left."""
    return int(os.environ.get("SOFTHCA_TEST_KILLS", usual))


# How often each row of a program was skipped (row_skip), with its reason.
skipped_rows = collections.Counter()


def run(argv, timeout=30, env=None, **kw):
    """Runs @argv to its end: a CompletedProcess with text output. At the timeout the whole process
    group is killed."""
    with subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(
                              os.environ, **(env or {})), start_new_session=True, **kw) as program:
        try:
            out, err = program.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            out, err = program.communicate()
            raise AssertionError(
                f"{argv} hung for {timeout} s\nstdout: {out}\nstderr: {err}") from None
        skipped_rows.update(re.findall(r"^skip (.+: .+)$", out, re.M))
        return subprocess.CompletedProcess(argv, program.returncode, out, err)


@functools.lru_cache(maxsize=None)
def own_ports():
    """Ports below those that the system hands out. Processes of pytest that run at the same time
    have ranges of their own: each binds, as long as it lives, a socket that is named by its
    range."""
    for begin in range(13000, 32000, 500):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0softhca-test-ports-{begin}")
            return iter(range(begin, begin + 500)), claim
        except OSError:
            claim.close()
    raise AssertionError("too many tests want ports at the same time")


def free_port():
    """A TCP port that is free, and that no other test will use."""
    for port in own_ports()[0]:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
                return port
            except OSError:
                pass  # some other program has it
    raise AssertionError("no port of the range is free")
