# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs whose daemon is killed get errors and one message, and none waits for ever."""

import subprocess
import time

import pytest

import models
from built import PROGRAMS
from installed import need
from running import free_port
from waiting import listens, wait_for

SENTENCE = "softhca: the daemon has ended, and with it the adapters of this program"


def start(*argv):
    return subprocess.Popen([str(word) for word in argv], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def connected(daemon):
    contexts = daemon.objects()["contexts"]
    states = [o["state"] for c in contexts for o in c["objects"] if o["type"] == "qp"]
    return "RTS" in states and sum(state in ("RTR", "RTS") for state in states) >= 2


@pytest.mark.parametrize("words", ["ibv_rc_pingpong -n 100000000", "ibv_ud_pingpong -n 100000000",
                                   "ibv_rc_pingpong -n 100000000 -e", "ib_send_bw -F -D 30"])
def test_programs_of_the_distribution_end(daemon, words):
    program, *options = words.split()
    # A program that never ends must not outlive the test.
    argv, port = ["timeout", "60", program, *options], free_port()
    need(program)
    server = start(*argv, "-d", models.device(0), "-p", port)
    wait_for(lambda: listens(port), "listener")
    client = start(*argv, "-d", models.device(1), "-p", port, "127.0.0.1")
    wait_for(lambda: connected(daemon), "connection")
    time.sleep(0.1)
    daemon.kill()
    for process in (server, client):
        _, err = process.communicate(timeout=30)
        # With -e a program may end without a command or a poll after the daemon's end.
        assert process.returncode and err.count(SENTENCE) in ((0, 1) if "-e" in argv else (1,)), err


RESTARTED = "a daemon that is started again serves new contexts beside the old ones"
KILLED = ["waits and polls end with an error", "completions come before the error",
          "an extended CQ ends with an error",
          "after plain CQs on a dirty heap an extended CQ fails",
          "extended CQs that threads made at once end with an error"]


def orphan(run, row, **env):
    done = run([PROGRAMS / "softhca-orphan", row], env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count(SENTENCE) == 1


def test_a_program_outlives_a_stop_and_a_start(run, daemon):
    orphan(run, RESTARTED, SOFTHCA_TEST_COMMAND=str(daemon.softhca))


@pytest.mark.parametrize("row", KILLED)
def test_each_row_holds_when_the_daemon_is_killed(run, daemon, row):
    daemon.ended = True
    orphan(run, row, ORPHAN_DAEMON=str(daemon.pid))


def test_no_row_is_left_out(run):
    listed = run([PROGRAMS / "softhca-orphan", "--list"]).stdout.splitlines()
    assert listed == [*KILLED, RESTARTED]
