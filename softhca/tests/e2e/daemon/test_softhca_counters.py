# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`softhca ctl counters`: requests, receives and errors of devices and QPs, and what each QP waits
for."""

import pytest

import models
from built import PROGRAMS, sharing
from waiting import wait_for

pytestmark = pytest.mark.any_model


def counters(daemon):
    """What `ctl counters` says: {(device, number): fields of the QP}, {device: its fields}."""
    lines = [line.split() for line in daemon.ask("ctl", "counters").splitlines()]
    return {(line[1], int(line[3])): line[2:3] + line[4:] for line in lines if line[0] == "qp"}, {
        line[1]: line[2:] for line in lines if line[0] == "device"}


@pytest.fixture
def counted(daemon):
    """A running program whose sender waits for a receive: {name: QP number}. Its pid is in
    ["pid"]."""
    program = daemon.start([PROGRAMS / "softhca-counted"], stderr=None)
    try:
        numbers = [int(word) for word in program.stdout.readline().split()]
        assert len(numbers) == 3, "the program could not do its work"
        wait_for(lambda: counters(daemon)[0][models.device(0), numbers[0]], "sender that waits",
                 holds=lambda fields: fields[8] != "-")
        yield dict(zip(("sender", "receiver", "failed"), numbers), pid=program.pid)
    finally:
        program.kill()
        program.communicate(timeout=30)


def test_a_qp_with_two_handles_is_counted_once(daemon):
    with sharing(daemon) as (_, number):
        lines = [line.split() for line in daemon.ask("ctl", "counters").splitlines()]
        assert [line[3] for line in lines if line[0] == "qp"] == [str(number)]
        assert {(o["number"], o["handles"]) for context in daemon.objects()["contexts"]
                for o in context["objects"] if o["type"] == "qp"} == {(number, 2)}


def test_a_delayed_qp_waits_for_the_delay(daemon):
    daemon.ask("ctl", "fault", models.device(0), "delay", "100%", "5000000")
    program = daemon.start([PROGRAMS / "softhca-counted"])
    wait_for(lambda: [fields[8] for fields in counters(daemon)[0].values()], "delayed QP",
             holds=lambda waits: "delay" in waits)
    program.kill()
    program.communicate(timeout=30)


def test_each_request_and_receive_counts_once(daemon, counted):
    """The failed request counts as an error, not as a flush."""
    here, there = models.device(0), models.device(1)
    qps, devices = counters(daemon)
    assert qps[here, counted["sender"]] == [
        str(counted["pid"]), "RC", "RTS", "5", "5000", "0", "0", "0", "buffer",
        str(counted["receiver"])
    ]
    assert qps[there, counted["receiver"]][3:9] == ["0", "0", "5", "5000", "0", "-"]
    assert qps[here, counted["failed"]][2:9] == ["ERR", "0", "0", "0", "0", "1", "-"]
    assert devices == {
        here: ["2", "5", "5000", "0", "0", "1"], there: ["2", "0", "0", "5", "5000", "0"]
    }
