# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that do what the real clients do run unmodified under the shim, each LEGACY_REPEAT times
(once unless set).

They exit with 0 only if all messages arrived whole, and every verb gave the result that the real
client relied upon.
"""

import os
import re

import pytest

from capturing import Recording, wireshark_agrees

REPEAT = int(os.environ.get("LEGACY_REPEAT") or 1)

# qperf and mvapich have no receive QPs: their XRC QPs both send and receive.
CLIENTS = [
    "qperf", "mvapich", "mvapich --hybrid", "mvapich --private", "mvapich2", "mvapich2-dlopen",
    "gasnet", "gasnet --shutdown", "openmpi", "portals4", "portals4 --daemon", "hpmpi"
]

SUMMARY = re.compile(r"^\S+: \d+ processes on 2 hosts, [1-9]\d* messages verified, all right$")


@pytest.fixture
def client(build_root, softhca, shim, run, in_memory, sanitizer_runtime):
    """client(command, option..., preload=(), through=[...], **environment): runs it once, with
    files of its own, started by the command `through`. --strict=on refuses mask bits that Linux
    ignores, so the shim must clear them."""

    def _client(command, *options, preload=(str(shim),), through=(), **environment):
        env = {"TMPDIR": str(in_memory), **environment}
        if preload:
            env["LD_PRELOAD"] = ":".join(filter(None, [*preload, sanitizer_runtime]))
        name, *rest = command.split()
        program = build_root / "tests" / "legacy" / "clients" / name
        if name == "portals4" and not program.exists():
            pytest.skip(f"{name} was not built: no librdmacm here")
        if name == "hpmpi" and sanitizer_runtime:
            pytest.skip(f"{name} has a malloc of its own, and so has the sanitizer")
        return run([softhca, "run", "--devices=2", "--ports=2", "--strict=on", "--", *through,
                    program, *rest, *options], timeout=60, env=env)

    return _client


def verify(done):
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert SUMMARY.match(done.stdout), done.stdout


@pytest.mark.parametrize("mode", ["--poll", "--event"])
@pytest.mark.parametrize("command", CLIENTS)
def test_runs_unmodified(client, command, mode):
    for _ in range(REPEAT):
        verify(client(command, mode))


@pytest.mark.any_model
def test_mvapich2_looks_up_what_todays_library_lacks(client):
    """So the runs above do test the shim. "demo cluster" asserts the same for a linked program."""
    done = client("mvapich2-dlopen", preload=())
    assert done.returncode == 1
    assert "Error opening ibv_open_xrc_domain. Falling back." in done.stderr


@pytest.mark.parametrize("command", ["qperf", "mvapich"])
def test_two_way_clients_fail_on_one_way_qps(client, command):
    """No message arrives on one-way QPs, so no adapter acknowledges one."""
    done = client(command, XRC_COMPAT_TWO_WAY="off")
    assert done.returncode == 1 and "transport retry counter exceeded" in done.stderr
    assert done.stdout.endswith(" 0 messages verified, FAILED\n")


# Runs a client twice on the same emulated kernel. Rank 1 of the first job kills itself after it has
# verified 7 messages.
KILLED_AND_STARTED_AGAIN = 'LEGACY_KILL=7 "$0" "$@"; echo "status $?"; exec "$0" "$@"'


@pytest.mark.any_model
@pytest.mark.parametrize("command", ["mvapich", "openmpi", "portals4"])
def test_a_killed_job_does_not_hinder_the_next_one(client, command):
    """Both jobs use the same file for the domain."""
    done = client(command, through=["sh", "-c", KILLED_AND_STARTED_AGAIN])
    assert "rank 1 is killed, as told" in done.stderr
    killed, status, again = done.stdout.splitlines()
    assert killed.endswith(" FAILED") and status == "status 1", done.stdout + done.stderr
    assert done.returncode == 0 and SUMMARY.match(again), done.stdout + done.stderr


# Captures what a client sends.
CAPTURED = '"$SOFTHCA" ctl capture "$FILE" && "$0" "$@" && "$SOFTHCA" ctl capture --stop >&2'


@pytest.mark.any_model
@pytest.mark.parametrize("command", ["openmpi", "mvapich2", "qperf"])
def test_wireshark_reads_what_old_clients_send(client, softhca, in_memory, command):
    """Each request of XRC names an SRQ."""
    recording = Recording(in_memory / "captured.pcapng")
    done = client(command, through=["sh", "-c", CAPTURED], SOFTHCA=str(softhca),
                  FILE=str(recording.path))
    assert done.returncode == 0 and SUMMARY.match(done.stdout), done.stdout + done.stderr
    packets = recording.read().packets
    # Before that, the loader may say that a 64-bit shell does not take a 32-bit library.
    assert done.stderr.splitlines()[-1] == f"{len(packets)} packets captured, 0 more dropped"
    assert recording.capture.kinds() >= {"XRC SEND_ONLY", "XRC ACK"}
    assert all(packet.srqn for packet in packets
               if packet.transport == "XRC" and packet.is_request)
    assert wireshark_agrees(recording) == len(packets)
