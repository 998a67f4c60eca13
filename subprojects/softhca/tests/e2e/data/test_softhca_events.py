# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every asynchronous event of a ConnectX, raised by `softhca ctl event`, reaches the programs that
it concerns."""

import contextlib

import pytest

import models
from built import PROGRAMS
from installed import need
from running import REPEAT

pytestmark = pytest.mark.any_model


# Names of `ctl event`, in the order of enum ibv_event_type.
EVENTS = """cq_err qp_fatal qp_req_err qp_access_err comm_est sq_drained path_mig path_mig_err
device_fatal port_active port_err lid_change pkey_change sm_change srq_err srq_limit_reached
last_wqe_reached client_reregister gid_change""".split()
# Those of an object, and its kind. The others are of a port or the device.
OBJECT_EVENTS = {
    "cq_err": "cq", "srq_err": "srq", "srq_limit_reached": "srq",
    **dict.fromkeys([*EVENTS[1:8], "last_wqe_reached"], "qp")
}
PORT_EVENTS = [name for name in EVENTS if name not in OBJECT_EVENTS]


def raise_event(daemon, *words):
    daemon.ask("ctl", "event", models.device(0), *words)


def test_the_list_is_complete(run, softhca, daemon):
    done = run([softhca, "ctl", "event", models.device(0), "nonsense"])
    assert done.returncode == 1
    assert sorted(done.stderr.split("there are:")[1].split()) == sorted(EVENTS)


@pytest.mark.parametrize("settings", [["--open_events=on"]])
def test_every_holder_of_a_target_gets_the_event(daemon):
    """Two processes share a target QP. Each gets every event of the QP, with its own handle. Each
    has an SRQ and a CQ of its own."""
    of_qp = [name for name, kind in OBJECT_EVENTS.items() if kind == "qp"]
    command = [PROGRAMS / "softhca-hold", "watch", daemon.scratch / "domain"]
    first = daemon.start([*command, len(OBJECT_EVENTS)], stderr=None)
    numbers = dict(zip(("qp", "srq"), first.stdout.readline().split()))
    second = daemon.start([*command, len(of_qp), numbers["qp"]], stderr=None)
    assert second.stdout.readline().split()[0] == numbers["qp"]
    numbers["cq"] = next(str(o["number"]) for c in daemon.objects()["contexts"]
                         if c["pid"] == first.pid for o in c["objects"] if o["type"] == "cq")
    for name, kind in OBJECT_EVENTS.items():
        raise_event(daemon, name, numbers[kind])
    for program, names in ((first, OBJECT_EVENTS), (second, of_qp)):
        out, _ = program.communicate(timeout=20)
        assert out.splitlines() == [f"{EVENTS.index(name)} {OBJECT_EVENTS[name]}" for name in names]
        # It ended after it had destroyed everything, so no event was counted wrongly.
        assert program.returncode == 0


@contextlib.contextmanager
def asyncwatch(daemon, device):
    """The distribution's own program, which shows the events of one device."""
    need("ibv_asyncwatch")
    with daemon.start(["stdbuf", "-oL", "ibv_asyncwatch", "-d", models.device(device)],
                      stderr=None) as watch:
        try:
            heading = watch.stdout.readline()
            assert "async event FD" in heading, heading
            yield watch.stdout
        finally:
            watch.kill()


def test_asyncwatch_sees_each_event(daemon):
    """The program sees the events that concern every program with the device open."""
    for _ in range(REPEAT):
        with asyncwatch(daemon, 0) as shown:
            for name in PORT_EVENTS:
                raise_event(daemon, name)
                line = shown.readline()
                assert f"IBV_EVENT_{name.upper()}" in line, (name, line)
            for state, event in (("down", "PORT_ERR"), ("up", "PORT_ACTIVE")):
                daemon.ask("ctl", "port", models.device(0), "1", state)
                assert f"IBV_EVENT_{event}" in shown.readline()


def test_other_devices_get_no_event(daemon):
    with asyncwatch(daemon, 1) as shown:
        raise_event(daemon, "lid_change")
        daemon.ask("ctl", "event", models.device(1), "sm_change")
        assert "SM_CHANGE" in shown.readline()
