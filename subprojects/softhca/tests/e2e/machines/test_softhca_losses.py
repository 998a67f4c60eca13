# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Daemons and programs that are stopped or killed while machines talk."""

import os
import random
import signal
import time

import pytest

from machines import start_daemons
from running import kills
from streams import arrive_in_spite, last_words, rows, streaming


def test_a_stopped_daemon(machines):
    one, two = machines

    def stop():
        os.kill(one.pid, signal.SIGSTOP)
        time.sleep(1)
        os.kill(one.pid, signal.SIGCONT)
    arrive_in_spite(one, two, stop)


@pytest.mark.any_model
def test_a_third_machine_that_dies(build):
    one, two, three = machines = build(3)
    start_daemons(machines)
    arrive_in_spite(one, two, three.kill)
    start_daemons([three])
    one.until(lambda now: now.count(": met") == 2, "meeting", one.status)
    rows((one, three), "XRC")
    rows((three, two), "XRC")


def test_a_killed_daemon(machines):
    """The sender at the other machine gets RETRY_EXC, and nothing hangs. The machine comes back."""
    ends = streaming(machines)
    machines[0].kill()
    said = last_words(machines, ends)
    assert "retry counter exceeded" in said[1], said
    start_daemons([machines[0]])
    machines[1].until(lambda now: now.count(": met") == 1, "meeting", machines[1].status)
    rows(machines, "XRC")
    rows(machines[::-1], "once each time")


def test_kills(machines):
    """Of either program or daemon, at any moment of a stream. Afterwards nothing is left, and a
    fresh pair works."""
    rng = random.Random(56)
    for _ in range(kills(6)):
        ends = streaming(machines)
        time.sleep(rng.random() * 0.1)
        victim = rng.randrange(4)
        machine = machines[victim % 2]
        if victim < 2:
            machine.kill_program(ends[victim])
            ends = [end for end in ends if end is not ends[victim]]
        else:
            machine.kill()
        last_words(machines, ends)
        if victim >= 2:
            start_daemons([machine])
            for other in machines:
                other.until(lambda now: now.count(": met") == 1, "meeting", other.status)
        for each in machines:
            each.until_empty()
    rows(machines)
    for machine in machines:
        machine.ask("stop")
        machine.until(lambda left: left == [], "end of the daemon", machine.processes)
        assert not machine.directory.exists()
