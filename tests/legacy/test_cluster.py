# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The demo cluster on emulated HCAs. It runs with xrc-compat. Without xrc-compat the loader names a
missing function."""

import os
import re
import signal

import pytest

import models
from facts import IGNORING_CHILDREN
from installed import need
from waiting import wait_for

RETRY = "the sender's next message ended with:\ntransport retry counter exceeded, as it should"


@pytest.fixture
def cluster(build_root, softhca, shim, run, in_memory, sanitizer_runtime):
    """cluster(argument..., settings=[...], preload=(), program=..., through=[...]): runs the demo
    once, started by the command `through`, in directories of its own, which must be empty
    afterwards.
    """

    def _cluster(*arguments, settings=("--devices=2", ), preload=(str(shim), ),
                 program="xrc-cluster", through=()):
        folder = in_memory / "tmp"
        folder.mkdir(mode=0o700, exist_ok=True)
        env = {"TMPDIR": str(folder), "XDG_RUNTIME_DIR": ""}
        if preload:
            env["LD_PRELOAD"] = ":".join(filter(None, [sanitizer_runtime, *preload]))
        done = run(
            [softhca, "run", *settings, "--", *through, build_root / "demo" / program, *arguments],
            timeout=60, env=env)
        # The emulator's daemon ends a moment after the program.
        wait_for(lambda: os.listdir(folder),
                 "end of the daemon's files", holds=lambda left: not left)
        return done

    return _cluster


def rows(output):
    """{name of the receiver: (QP, SRQ, messages, bytes, verified)} of the table."""
    found = re.findall(
        r"^(sender|receiver \d+)\s+\d+\s+0x(\w+)\s+(?:0x(\w+)|-)\s+(\d+)\s+(\d+)\s+(\d+|-)", output,
        re.M)
    return {row[0]: row[1:] for row in found}


@pytest.mark.parametrize("receivers, options", [(4, []), (1, ["-n", "1"]),
                                                (9, ["-n", "9", "-i", "1", "-e"])])
def test_one_receive_qp_serves_every_receiver(cluster, receivers, options):
    done = cluster(*options)
    assert (done.returncode, done.stderr) == (0, "")
    table = rows(done.stdout)
    sender = table.pop("sender")
    assert len(table) == receivers
    assert len({row[0] for row in table.values()}) == 1, "there is one receive QP"
    assert len({row[1] for row in table.values()}) == receivers, "each has an SRQ of its own"
    assert all(int(row[2]) > 0 for row in table.values()), "each received messages"
    assert all(row[2] == row[4] for row in table.values()), "every message was verified"
    for column in (2, 3):
        assert sum(int(row[column]) for row in table.values()) == int(sender[column])
    assert RETRY in done.stdout
    assert f"Plain RC would have needed {2 * receivers}," in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_rounds_go_on_after_each_departure(cluster):
    """All 4 receivers take part in the first of 4 rounds, and one receiver fewer in each later
    round."""
    done = cluster("-i", "1")
    assert (done.returncode, done.stderr) == (0, "")
    table = rows(done.stdout)
    messages = [int(table[f"receiver {i}"][2]) for i in range(4)]
    assert messages[0] > 0
    assert messages == [rounds * messages[0] for rounds in (1, 2, 3, 4)]


@pytest.mark.parametrize("options", [
    {"program": "xrc-cluster-now"},
    {"settings": ["--devices=2", "--link=ethernet"]},
], ids=["immediate binding", "Ethernet ports"])
def test_the_demo_runs_with_other_settings(cluster, options):
    done = cluster(**options)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.any_model
@pytest.mark.parametrize("seconds", ["0.1", "60"])
def test_the_demo_ignores_children_that_it_has_not_started(cluster, tmp_path, seconds):
    """As process 1 of a container it has the emulator's daemon and orphans as children."""
    child = tmp_path / "child"
    script = f'sleep {seconds} </dev/null >/dev/null 2>&1 & echo $! >{child}; exec "$0" "$@"'
    done = cluster("-n", "2", through=["sh", "-c", script])
    if seconds == "60":
        os.kill(int(child.read_text()), signal.SIGKILL)
    assert done.returncode == 0, done.stderr


@pytest.mark.any_model
def test_the_demo_ends_where_its_parent_ignores_children(cluster):
    """wait(2) names no child then."""
    done = cluster("-n", "2", through=IGNORING_CHILDREN)
    assert done.returncode == 0, done


def complaint(done):
    """What the demo says; the loader says that a 64-bit shell does not take a 32-bit library."""
    return "\n".join(line for line in done.stderr.splitlines()
                     if not line.startswith("ERROR: ld.so: "))


# Kills the first process of the demo as soon as all five are there.
KILL_ONE = """"$0" "$@" & demo=$!
until set -- $(cat /proc/$demo/task/$demo/children) && [ $# -eq 5 ] && kill -9 $1; do sleep 0.01; done
wait $demo"""


@pytest.mark.any_model
@pytest.mark.parametrize("options", [[], ["-e"]], ids=["poll", "event"])
def test_a_killed_process_ends_the_run_and_the_next_run_is_clean(cluster, options):
    done = cluster("-i", "10000", *options, through=["sh", "-c", KILL_ONE])
    assert (done.returncode, done.stdout) == (1, "")
    # The sender may notice first that the receiver's SRQ has gone, and may also end first.
    sender = r"xrc-cluster: sender: message \d+ completed, expected \d+: .+"
    killed = r"xrc-cluster: receiver 0 \(pid \d+\) was killed by signal 9"
    assert re.fullmatch(f"({sender}\n)?{killed}|{sender}", complaint(done)), done.stderr
    done = cluster("-i", "1", *options)
    assert (done.returncode, done.stderr) == (0, "")


# Stops the first process of the demo, and lets the demo's time end. A process that was stopped
# before it asked to end with its parent does so when it goes on.
STOP_ONE = KILL_ONE.replace("kill -9 $1;", "kill -STOP $1;").replace(
    "wait $demo", "kill -ALRM $demo; wait $demo; status=$?; kill -CONT $1 2>/dev/null; exit $status")


@pytest.mark.any_model
def test_the_demo_ends_where_no_message_arrives(cluster):
    done = cluster("-i", "10000", through=["sh", "-c", STOP_ONE])
    assert (done.returncode, done.stdout) == (1, "")
    assert complaint(done) == "xrc-cluster: no end after 120 s; try: xrc-compat doctor"


# The kernel of CentOS 7 is Linux 3.10. It lacks all these calls.
LATER_CALLS = "memfd_create,pidfd_open,getrandom,renameat2,statx"


@pytest.mark.usefixtures("systems_class")
def test_the_demo_runs_without_the_calls_of_later_kernels(cluster, tmp_path):
    need("strace")
    done = cluster(through=["strace", "-f", "-qq", "-o", tmp_path / "calls", f"-etrace={LATER_CALLS}",
                            f"-einject={LATER_CALLS}:error=ENOSYS"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "ENOSYS" in (tmp_path / "calls").read_text()


@pytest.mark.any_model
@pytest.mark.parametrize("program, status", [("xrc-cluster", 1), ("xrc-cluster-now", 127)])
def test_without_xrc_compat_a_symbol_is_undefined(cluster, program, status):
    done = cluster(preload=(), program=program)
    assert (done.returncode, done.stdout) == (status, "")
    assert len(re.findall(r"undefined symbol: ibv_\w*xrc\w*, version IBVERBS_1\.1", done.stderr)) == 1


@pytest.mark.any_model
@pytest.mark.parametrize("settings, complaint", [
    (["--devices=1"], "RDMA devices here: 1. The sender and the receivers need one each"),
    (["--devices=2", "--xrc=off"], "mlx4_0 cannot do XRC"),
])
def test_one_line_names_what_the_machine_lacks(cluster, settings, complaint):
    done = cluster(settings=settings)
    assert (done.returncode, done.stdout) == (1, "")
    assert models.named(complaint) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_directory_that_cannot_hold_the_domain_file_is_named(build_root, run):
    done = run([build_root / "demo" / "xrc-cluster"], env={"TMPDIR": "/nonexistent"})
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot make a file for the XRC domain in /nonexistent: No such file or directory" in done.stderr
