# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What programs over librdmacm get and are refused, and the error when the daemon dies."""

import os
import pathlib

import pytest

from capturing import capturing
from emulator import THERE

pytestmark = pytest.mark.any_model

PROGRAMS = pathlib.Path(os.environ["RDMACM_TEST_PROGRAMS"])


# A group of rows, and the time after which an end gives up.
PATIENCE = {"attributes": 60000, "channel": 60000, "commands": 60000, "datagrams": 60000,
            "groups": 60000, "patience": 1000, "refusals": 60000}


@pytest.mark.parametrize("group", PATIENCE)
def test_each_row_holds_and_each_refusal_has_a_reason_in_the_trace(run, softhca, tmp_path, group):
    trace = tmp_path / "trace"
    done = run([softhca, "run", f"--trace={trace}", f"--cm_timeout={PATIENCE[group]}", "--",
                PROGRAMS / "rdmacm-rows", group], timeout=100)
    failed = [row for row in done.stdout.splitlines() if not row.startswith("ok ")]
    assert (done.returncode, failed) == (0, []), done.stderr
    refused = [line for line in trace.read_text().splitlines()
               if line.startswith("rdma_cm ") and not line.endswith(": ok")]
    assert [line for line in refused if not line.endswith(")")] == []
    assert refused or group not in ("commands", "refusals")
    # A program that polls would fill the trace with these.
    assert "GET_EVENT: EAGAIN" not in trace.read_text()


def test_the_messages_have_the_retry_counts_that_a_peer_here_gets(daemon, finish):
    """Another machine reads them."""
    with capturing(daemon) as recording:
        status, said = finish(daemon.start([PROGRAMS / "rdmacm-rows", "attributes", "at most 7"]))
        assert status == 0, said
    req, rep = [packet.payload[24:] for packet in recording.capture.packets[:2]]
    assert (req[47] & 7, req[50] & 7, req[51] >> 3 & 1, req[43] & 1) == (7, 7, 1, 1)
    assert (rep[27] >> 5, rep[27] >> 4 & 1, rep[26] & 1) == (7, 1, 1)


def test_the_daemons_end_wakes_a_waiting_program(daemon, finish):
    program = daemon.start([PROGRAMS / "rdmacm-talk", "listen", THERE, 7000])
    assert program.stdout.readline() == "listening\n"
    daemon.stop()
    status, output = finish(program)
    assert status == 1 and "rdma_get_cm_event: Input/output error\n" in output


@pytest.mark.parametrize(
    "bad", ["192.0.2", "126.255.255.1", "127.255.255.1", "0.0.0.0", "239.0.0.1", "223.255.250.1",
            "255.255.255.255", "fd00::1"])
def test_an_address_that_no_adapter_can_have_is_refused(run, softhca, bad):
    done = run([softhca, "run", f"--address={bad}", "--", "true"])
    assert done.returncode == 125 and "address" in done.stderr
