# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs programs that must not hang."""

import os
import signal
import socket
import subprocess


def run(argv, timeout=30, env=None, **kw):
    """Runs @argv to its end: a CompletedProcess with text output. At the timeout the whole process group is killed."""
    with subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=dict(os.environ, **(env or {})), start_new_session=True, **kw) as program:
        try:
            out, err = program.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            out, err = program.communicate()
            raise AssertionError(f"{argv} hung for {timeout} s\nstdout: {out}\nstderr: {err}") from None
        return subprocess.CompletedProcess(argv, program.returncode, out, err)


def free_port():
    """A TCP port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]
