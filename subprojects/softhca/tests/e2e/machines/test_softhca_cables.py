# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Cables that are bad or pulled, and daemons and programs that are killed, while machines talk.
SOFTHCA_TEST_KILLS: how many kills (default 6)."""

import os
import random
import re
import signal
import time

import pytest

import models
from built import PROGRAMS
from machines import across, start_daemons
from waiting import wait_for

KILLS = int(os.environ.get("SOFTHCA_TEST_KILLS", "6"))
ACROSS = PROGRAMS / "softhca-across"


def rows(machines, name="once"):
    """The rows of across.c whose names contain this: everything arrives whole."""
    one, two = machines
    across(one, two, [ACROSS, name], [ACROSS, name], env={"ACROSS_SERVER": one.address})


@pytest.mark.any_model
def test_a_cable_that_loses_and_delays(build):
    """1 % of the frames are lost, and each is 25 ms on its way: 50 ms until an answer."""
    machines = build(2, cable=(0.01, 0.025))
    start_daemons(machines)
    rows(machines, "read back")
    rows(machines, "XRC")


@pytest.mark.any_model
def test_a_cable_across_the_world(build):
    """An answer takes 300 ms, and each frame of TCP's slow start as long."""
    machines = build(2, cable=(0, 0.15))
    start_daemons(machines)
    rows(machines, "read back")
    rows(machines, "XRC")


@pytest.mark.parametrize("fault", ["drop 10%", "duplicate 20%", "delay 5% 300"])
def test_injected_faults(machines, fault):
    kind = fault.split()[0]
    for machine in machines:
        machine.ask("ctl", "fault", "all", *fault.split())
    rows(machines, "read back")
    rows(machines, "XRC" if kind == "drop" else "once each time")
    hits = [machine.ask("ctl", "fault") for machine in machines]
    assert all(re.search(rf"{kind}=\S+ hits=[1-9]", each) for each in hits), hits


def test_atomics_whose_answers_are_lost(machines):
    """A loss costs half a second."""
    for machine in machines:
        machine.ask("ctl", "fault", "all", "drop", "2%")
    rows(machines, "once each time")


@pytest.mark.on_model("connectx3")  # libmlx5 has no SQD
def test_what_was_begun_is_finished_in_sqd(machines):
    """The receiver has all of it, but its answers are lost."""
    env = {"ACROSS_SERVER": machines[0].address, "ACROSS_SQD": "yes"}
    machines[0].ask("ctl", "fault", "all", "drop", "100%")
    ends = [machine.start([ACROSS, "SQD"], env=env) for machine in machines]
    assert ends[1].stdout.readline() == "in SQD\n"
    machines[0].ask("ctl", "fault", "all", "drop", "0")
    said = [end.communicate(timeout=40)[0] for end in ends]
    assert [words[:3] for words in said] == ["ok "] * 2, said


def streaming(machines):
    """The Popens of both ends of a stream that is under way."""
    one, two = machines
    env = {"ACROSS_SERVER": one.address, "ACROSS_ENDLESS": "yes"}
    ends = [machine.start([ACROSS, "endless"], env=env) for machine in machines]
    for end in ends:
        assert end.stdout.readline() == "streaming\n", end.communicate()
    return ends


def statuses(machines, ends):
    """What the ends of a stream have said at last."""
    said = [end.communicate(timeout=40)[0] for end in ends]
    for machine in machines:
        wait_for(lambda: not [p for p in machine.processes()
                              if machine.name_of(p) != "softhca-daemon"], "end of the programs")
    return said


def sent_by(machine):
    """How many messages its QPs have sent, at most."""
    return max((int(line.split()[6]) for line in machine.ask("ctl", "counters").splitlines()
                if line.startswith("qp ")), default=0)


def arrive_in_spite(one, two, disturb):
    """5000 messages arrive, though disturb() is called when some have been sent."""
    env = {"ACROSS_SERVER": one.address}
    ends = [machine.start([ACROSS, "5000"], env=env) for machine in (one, two)]
    wait_for(lambda: sent_by(two), "first messages", holds=lambda count: count > 10)
    disturb()
    said = [end.communicate(timeout=60)[0] for end in ends]
    assert [words[:3] for words in said] == ["ok "] * 2, said


def test_a_pulled_cable(machines):
    one, two = machines

    def pull():
        two.ip("link", "set", "v", "down")
        assert sent_by(two) < 5000
        time.sleep(2)
        two.ip("link", "set", "v", "up")
    arrive_in_spite(one, two, pull)


def test_a_stopped_daemon(machines):
    one, two = machines

    def stop():
        one.signal_daemon(signal.SIGSTOP)
        time.sleep(1)
        one.signal_daemon(signal.SIGCONT)
    arrive_in_spite(one, two, stop)


@pytest.mark.any_model
def test_a_third_machine_that_dies(build):
    one, two, three = machines = build(3)
    start_daemons(machines)
    arrive_in_spite(one, two, three.kill_daemon)
    assert three.start_daemon().communicate(timeout=30)[1] is None
    one.until(lambda now: now.count(": met") == 2, "meeting", one.status)
    rows((one, three), "XRC")
    rows((three, two), "XRC")


def test_a_killed_daemon(machines):
    """The sender at the other machine gets RETRY_EXC, and nothing hangs. The machine comes back."""
    ends = streaming(machines)
    assert machines[0].kill_daemon() == 1
    said = statuses(machines, ends)
    assert "retry counter exceeded" in said[1], said
    assert machines[0].start_daemon().communicate(timeout=30)[1] is None
    machines[1].until(lambda now: now.count(": met") == 1, "meeting", machines[1].status)
    rows(machines, "XRC")
    rows(machines[::-1], "once each time")


@pytest.mark.any_model
@pytest.mark.parametrize("end", [0, 1], ids=["receiver", "sender"])
def test_a_port_that_is_down(machines, end):
    ends = streaming(machines)
    machines[end].ask("ctl", "port", models.device(0), "1", "down")
    assert "retry counter exceeded" in statuses(machines, ends)[1]
    machines[end].ask("ctl", "port", models.device(0), "1", "up")
    rows(machines, "XRC")


def test_kills(machines):
    """Of either program or daemon, at any moment of a stream. Afterwards nothing is left, and a
    fresh pair works."""
    rng = random.Random(56)
    for number in range(KILLS):
        ends = streaming(machines)
        time.sleep(rng.random() * 0.1)
        victim = rng.randrange(4)
        machine = machines[victim % 2]
        if victim < 2:
            machine.kill(ends[victim])
            ends = [end for end in ends if end is not ends[victim]]
        else:
            machine.kill_daemon()
        statuses(machines, ends)
        if victim >= 2:
            assert machine.start_daemon().communicate(timeout=30)[1] is None
            for other in machines:
                other.until(lambda now: now.count(": met") == 1, "meeting", other.status)
        for each in machines:
            each.until_empty()
    rows(machines)
    for machine in machines:
        machine.ask("stop")
        assert not machine.directory.exists()
        machine.until(lambda left: left == [], "end of the daemon", machine.processes)
