# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`softhca ctl counters`: requests, receives and errors of devices and QPs, and what each QP waits
for."""

import contextlib

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


@contextlib.contextmanager
def counting(daemon, reason):
    """A running program of which a QP waits for this reason: its process."""
    with daemon.start([PROGRAMS / "softhca-traffic", "count"], stderr=None) as program:
        try:
            wait_for(lambda: [fields[8] for fields in counters(daemon)[0].values()],
                     "QP that waits", holds=lambda waits: reason in waits)
            yield program
        finally:
            program.kill()


def test_a_qp_with_two_handles_is_counted_once(daemon):
    with sharing(daemon) as (_, number):
        lines = [line.split() for line in daemon.ask("ctl", "counters").splitlines()]
        assert [line[3] for line in lines if line[0] == "qp"] == [str(number)]
        assert {(o["number"], o["handles"]) for context in daemon.objects()["contexts"]
                for o in context["objects"] if o["type"] == "qp"} == {(number, 2)}


def test_a_delayed_qp_waits_for_the_delay(daemon):
    daemon.ask("ctl", "fault", models.device(0), "delay", "100%", "5000000")
    with counting(daemon, "delay"):
        pass


def test_each_request_and_receive_counts_once(daemon):
    """The failed request counts as an error, not as a flush."""
    here, there = models.device(0), models.device(1)
    with counting(daemon, "buffer") as program:
        sender, receiver, failed = (int(word) for word in program.stdout.readline().split())
        qps, devices = counters(daemon)
        assert qps[here, sender] == [
            str(program.pid), "RC", "RTS", "5", "5000", "0", "0", "0", "buffer", str(receiver)]
        assert qps[there, receiver][3:9] == ["0", "0", "5", "5000", "0", "-"]
        assert qps[here, failed][2:9] == ["ERR", "0", "0", "0", "0", "1", "-"]
        assert devices == {
            here: ["2", "5", "5000", "0", "0", "1"], there: ["2", "0", "0", "5", "5000", "0"]}


def test_a_domain_is_listed_with_its_handles(daemon):
    """That of a file is not private."""
    with sharing(daemon):
        assert [(o["private"], o["handles"]) for context in daemon.objects()["contexts"]
                for o in context["objects"] if o["type"] == "xrcd"] == 2 * [(False, 2)]
