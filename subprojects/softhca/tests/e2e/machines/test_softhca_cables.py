# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Cables that are bad or pulled, ports that are down, and injected faults, while machines talk."""

import concurrent.futures
import contextlib
import pathlib
import re
import threading
import time

import pytest

import models
from emulator import HERE
from installed import need
from machines import across, start_daemons
from streams import ACROSS, arrive_in_spite, last_words, rows, streaming
from waiting import wait_for


@pytest.mark.any_model
def test_a_cable_that_loses_and_delays(build):
    """1 % of the frames are lost, and each is 25 ms on its way: 50 ms until an answer."""
    machines = build(2, cable=(0.01, 0.025))
    start_daemons(machines)
    rows(machines, "read back")
    rows(machines, "XRC")


@pytest.mark.any_model
def test_a_cable_across_the_world(build):
    """An answer takes 300 ms, and so does each round of TCP's slow start."""
    machines = build(2, cable=(0, 0.15))
    start_daemons(machines)
    rows(machines, "read back")
    rows(machines, "XRC")


@pytest.mark.any_model
def test_the_first_answer_is_waited_for_longer(build):
    """An answer takes three seconds at first: TCP starts slowly. Four waits of half a second would
    end before."""
    machines = build(2, cable=(0, 0.5))
    start_daemons(machines)
    rows(machines, "XRC")


def sent_bytes(machine):
    """On its cable."""
    device = pathlib.Path(f"/proc/{machine.first}/net/dev").read_text()
    return int(re.search(r" v:(?: +\d+){8} +(\d+)", device)[1])


@pytest.mark.any_model
def test_what_is_long_on_its_way_is_not_sent_again(build):
    """An answer takes 0.6 seconds, and there may be 16 pieces on the way."""
    one, two = machines = build(2, cable=(0, 0.3))
    need("ibv_rc_pingpong")
    start_daemons(machines)
    words = "ibv_rc_pingpong -s 1048576 -n 4".split()
    across(one, two, words, [*words, one.address], lambda: one.wait_for_listener(18515),
           timeout=180)
    assert sent_bytes(two) < 8 << 20


def assert_hits(machine, kind):
    """Its injected faults have hit a frame."""
    said = machine.ask("ctl", "fault")
    assert re.search(rf"{kind}=\S+ hits=[1-9]", said), said


@pytest.mark.parametrize("fault", ["drop 10%", "duplicate 20%", "delay 5% 300"])
def test_injected_faults(machines, fault):
    kind = fault.split()[0]
    for machine in machines:
        machine.ask("ctl", "fault", "all", *fault.split())
    rows(machines, "read back")
    # 300 atomics would take too long: a loss costs half a second.
    rows(machines, "XRC" if kind == "drop" else "once each time")
    for machine in machines:
        assert_hits(machine, kind)


def test_atomics_whose_answers_are_lost(machines):
    for machine in machines:
        machine.ask("ctl", "fault", "all", "drop", "2%")
    rows(machines, "once each time")
    for machine in machines:
        assert_hits(machine, "drop")


def test_an_error_behind_lost_answers(machines):
    one, two = machines
    one.ask("ctl", "fault", "all", "drop", "100%")
    across(one, two, [ACROSS, "acknowledges"], [ACROSS, "acknowledges"],
           env={"ACROSS_SERVER": one.address})
    assert_hits(one, "drop")


@pytest.mark.on_model("connectx3")  # libmlx5 has no SQD
def test_what_was_begun_is_finished_in_sqd(machines):
    """The receiver has all of it, but its answers are lost."""
    env = {"ACROSS_SERVER": machines[0].address}
    machines[0].ask("ctl", "fault", "all", "drop", "100%")
    ends = [machine.start([ACROSS, "SQD"], env=env) for machine in machines]
    assert ends[1].stdout.readline() == "in SQD\n"
    assert " answer " in machines[1].ask("ctl", "counters")
    machines[0].ask("ctl", "fault", "all", "drop", "0")
    said = [end.communicate(timeout=40)[0] for end in ends]
    assert [words[:3] for words in said] == ["ok "] * 2, said


def test_a_pulled_cable(machines):
    one, two = machines

    def pull():
        two.ip("link", "set", "v", "down")
        time.sleep(2)
        two.ip("link", "set", "v", "up")
    arrive_in_spite(one, two, pull)


@pytest.mark.any_model
def test_a_cable_that_is_pulled_for_long(machines):
    """No machine says that the daemon of the other one has ended, which it has not."""
    one, two = machines
    two.ip("link", "set", "v", "down")
    for machine in machines:
        said = wait_for(machine.status, "loss of the other machine", 60,
                        holds=lambda now: ": met" not in now)
        assert "ended" not in said
    two.ip("link", "set", "v", "up")
    for machine in machines:
        machine.until(lambda now: now.count(": met") == 1, "meeting", machine.status)
    rows(machines, "XRC")


def switch(machine, state):
    """Its port up or down. What is sent to a port that is down, or by it, is lost."""
    machine.ask("ctl", "port", models.device(0), "1", state)


@pytest.mark.any_model
@pytest.mark.parametrize("end", [0, 1], ids=["receiver", "sender"])
def test_a_port_that_is_down(machines, end):
    ends = streaming(machines)
    switch(machines[end], "down")
    assert "retry counter exceeded" in last_words(machines, ends)[1]
    switch(machines[end], "up")
    rows(machines, "XRC")


@contextlib.contextmanager
def flapping(machine):
    """Its port goes down for a moment again and again."""
    def flap():
        while not over.wait(0.05):
            switch(machine, "down")
            switch(machine, "up")
    over = threading.Event()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        flaps = pool.submit(flap)
        try:
            yield
        finally:
            over.set()
    flaps.result()


quickly = pytest.mark.parametrize("settings", [["--cm_timeout=6000"]], ids=["quickly"])


@quickly
def test_connections_over_a_port_that_flaps(machines):
    one, two = machines
    need("ucmatose")
    serve = "ucmatose -c 10".split()
    with flapping(one):
        across(one, two, serve, [*serve, "-s", HERE], one.until_listening)


@quickly
def test_a_datagram_request_that_is_lost(machines):
    one, two = machines
    need("udaddy")

    def down_for_a_moment():
        one.until_listening()
        switch(one, "down")
        timer.start()
    timer = threading.Timer(1, switch, [one, "up"])
    try:
        across(one, two, ["udaddy"], ["udaddy", "-s", HERE], down_for_a_moment)
    finally:
        if timer.is_alive():
            timer.join()
