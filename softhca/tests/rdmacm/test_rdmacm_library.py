# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Connections, groups and event channels by librdmacm, and the errors that librdmacm reports when
the daemon dies."""

import os
import pathlib

import pytest

pytestmark = pytest.mark.any_model

PROGRAMS = pathlib.Path(os.environ["RDMACM_TEST_PROGRAMS"])


@pytest.mark.parametrize("name", ["attributes", "channel", "datagrams", "groups", "last_data"])
def test_each_case_of_the_program_holds(run, softhca, name):
    done = run([softhca, "run", "--", PROGRAMS / f"rdmacm-{name}"], timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_daemons_end_wakes_a_waiting_program(run, softhca, daemon, finish):
    program = daemon.start([PROGRAMS / "rdmacm-talk", "listen", "198.18.1.1", 7000])
    assert program.stdout.readline() == "listening\n"
    assert run([softhca, "stop"]).returncode == 0
    status, output = finish(program)
    assert status == 1 and "rdma_get_cm_event: Input/output error\n" in output


def test_commands_are_traced(run, softhca, daemon):
    run([PROGRAMS / "rdmacm-talk", "connect", "198.18.1.1", 7000])
    lines = run([softhca, "ctl", "trace"]).stdout.splitlines()
    commands = [line.split(" ", 3)[3] for line in lines if line.startswith("rdma_cm pid ")]
    assert "RESOLVE_ADDR: ok" in commands and "CONNECT: ok" in commands
    assert "GET_EVENT: EAGAIN" not in commands
