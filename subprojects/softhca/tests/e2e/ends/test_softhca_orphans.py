# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs whose daemon is killed get one message, unless they end before it, and none waits for
ever."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

import models
from bare_verbs import script
from built import PROGRAMS
from installed import need
from running import free_port
from waiting import read_until, wait_for

SENTENCE = "softhca: the daemon has ended, and with it the adapters of this program"


def start(*argv):
    return subprocess.Popen([str(word) for word in argv], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def listens(port):
    return any(f":{port:04X} 00000000" in line and " 0A " in line for table in ("tcp", "tcp6")
               for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines())


def connected(daemon):
    contexts = daemon.objects()["contexts"]
    states = [o["state"] for c in contexts for o in c["objects"] if o["type"] == "qp"]
    return "RTS" in states and sum(state in ("RTR", "RTS") for state in states) >= 2


@pytest.mark.parametrize("words", ["ibv_rc_pingpong -n 100000000", "ibv_ud_pingpong -n 100000000",
                                   "ibv_rc_pingpong -n 100000000 -e", "ib_send_bw -F -D 30"])
def test_programs_of_the_distribution_end(daemon, words):
    argv, port = words.split(), free_port()
    need(argv[0])
    server = start(*argv, "-d", models.device(0), "-p", port)
    wait_for(lambda: listens(port))
    client = start(*argv, "-d", models.device(1), "-p", port, "127.0.0.1")
    wait_for(lambda: connected(daemon))
    time.sleep(0.1)
    os.kill(daemon.pid, signal.SIGKILL)
    for program in (server, client):
        _, err = program.communicate(timeout=30)
        # With -e a program may end before the preload's thread speaks: the end of the completion
        # channel wakes both.
        assert program.returncode and err.count(SENTENCE) in ((0, 1) if "-e" in argv else (1,)), err


@pytest.mark.parametrize(
    "case", ["waits_and_polls_end_with_an_error", "completions_come_before_the_error",
             "an_extended_cq_ends_with_an_error"])
def test_each_case_holds_when_the_daemon_is_killed(run, daemon, case):
    done = run([PROGRAMS / "softhca-orphan", case], env={"ORPHAN_DAEMON": str(daemon.pid)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count(SENTENCE) == 1


@pytest.mark.any_model
def test_a_forked_child_gets_the_message_too(daemon):
    """The parent's thread is not in the child. A child that opens devices starts a thread of its
    own."""
    forked = start(*script(r"""
import os, sys
open_device()
child = os.fork()
open_device()
print("ready", flush=True)
sys.stdin.read()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""))
    read_until(forked.stdout, lambda text: text.count(b"\n") == 2)
    os.kill(daemon.pid, signal.SIGKILL)
    sentences = read_until(forked.stderr, lambda text: text.count(SENTENCE.encode()) == 2)
    _, more = forked.communicate(timeout=30)
    assert forked.returncode == 0, sentences + more
    assert SENTENCE not in more


def test_the_waiting_thread_ends_with_the_last_connection(run, daemon):
    """The preload's thread ends with the last context, however that ends."""
    done = run(script(r"""
import os, signal, sys, time
def until_alone():
    end = time.monotonic() + 20
    while len(os.listdir("/proc/self/task")) > 1:
        assert time.monotonic() < end
        time.sleep(0.1)
for _ in range(2):
    fd = os.open("/dev/infiniband/uverbs0", os.O_RDWR)
    os.closerange(fd, fd + 1)
    contexts = [open_device(), open_device()]
    assert len(os.listdir("/proc/self/task")) == 2
    for context in contexts:
        assert v.ibv_close_device(context) == 0
    until_alone()
open_device()
os.kill(int(sys.argv[1]), signal.SIGKILL)
until_alone()
""", daemon.pid))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(SENTENCE) == 1


def test_a_program_that_closes_every_descriptor_does_not_spin(run, daemon):
    """The preload's thread waits on one of these descriptors."""
    done = run(script(r"""
import os, signal, sys, time
open_device()
waits_on = [fd for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")
            and "eventpoll" in os.readlink(f"/proc/self/fd/{fd}")]
assert waits_on
for fd in waits_on:
    os.close(int(fd))
os.kill(int(sys.argv[1]), signal.SIGKILL)
time.sleep(0.2)
before = time.process_time()
time.sleep(1)
assert time.process_time() - before < 0.3
""", daemon.pid))
    assert done.returncode == 0, done.stderr
