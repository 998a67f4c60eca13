# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every asynchronous event of a ConnectX, raised by `softhca ctl event`, reaches the programs that
it concerns."""

import contextlib
import re

import pytest

import models
from built import PROGRAMS
from installed import need
from pairs import REPEAT

pytestmark = pytest.mark.any_model


# name of `ctl event` -> number in enum ibv_event_type, whose event it is
EVENTS = {
    "cq_err": (0, "cq"),
    "qp_fatal": (1, "qp"),
    "qp_req_err": (2, "qp"),
    "qp_access_err": (3, "qp"),
    "comm_est": (4, "qp"),
    "sq_drained": (5, "qp"),
    "path_mig": (6, "qp"),
    "path_mig_err": (7, "qp"),
    "device_fatal": (8, "device"),
    "port_active": (9, "port"),
    "port_err": (10, "port"),
    "lid_change": (11, "port"),
    "pkey_change": (12, "port"),
    "sm_change": (13, "port"),
    "srq_err": (14, "srq"),
    "srq_limit_reached": (15, "srq"),
    "last_wqe_reached": (16, "qp"),
    "client_reregister": (17, "port"),
    "gid_change": (18, "port"),
}
OBJECT_EVENTS = [name for name in EVENTS if EVENTS[name][1] in ("cq", "qp", "srq")]
PORT_EVENTS = [name for name in EVENTS if name not in OBJECT_EVENTS]


def raise_event(daemon, *words):
    daemon.ask("ctl", "event", models.device(0), *words)


def test_the_list_is_complete(run, softhca, daemon):
    done = run([softhca, "ctl", "event", models.device(0), "nonsense"])
    assert done.returncode == 1
    assert sorted(done.stderr.split("there are:")[1].split()) == sorted(EVENTS)


def test_every_holder_of_a_target_gets_the_event(daemon):
    """Two processes share a target QP. Each gets every event of the QP, with its own handle. Each
    has an SRQ and a CQ of its own."""
    count = len(OBJECT_EVENTS)
    of_qp = [name for name in OBJECT_EVENTS if EVENTS[name][1] == "qp"]
    first = daemon.start([PROGRAMS / "softhca-watcher", daemon.folder / "domain", count],
                         stderr=None)
    qp, srq = first.stdout.readline().split()
    second = daemon.start([PROGRAMS / "softhca-watcher", daemon.folder / "domain",
                           len(of_qp), qp], stderr=None)
    assert second.stdout.readline().split()[0] == qp
    contexts = daemon.objects()["contexts"]
    cq = next(o["number"] for c in contexts if c["pid"] == first.pid for o in c["objects"]
              if o["type"] == "cq")
    numbers = {"qp": qp, "srq": srq, "cq": str(cq)}
    for name in OBJECT_EVENTS:
        raise_event(daemon, name, numbers[EVENTS[name][1]])
    out, _ = first.communicate(timeout=20)
    assert out.splitlines() == [f"{EVENTS[name][0]} {EVENTS[name][1]}" for name in OBJECT_EVENTS]
    out, _ = second.communicate(timeout=20)
    assert out.splitlines() == [f"{EVENTS[name][0]} qp" for name in of_qp]
    # Both processes ended after they had destroyed everything, so no event was counted wrongly.
    assert (first.returncode, second.returncode) == (0, 0)


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
    """It sees the events that concern every program with the device open."""
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


@pytest.mark.parametrize("words, complaint", [
    (["mlx4_0", "qp_fatal"], "needs the number"),
    (["mlx4_0", "qp_fatal", "99"], "no QP 99"),
    (["mlx4_0", "cq_err", "99"], "no CQ 99"),
    (["mlx4_0", "srq_err", "99"], "no SRQ 99"),
    (["mlx4_0", "port_err", "3"], "no port 3"),
    (["mlx4_7", "port_err"], "no device mlx4_7"),
    (["mlx4_0"], "event takes"),
    (["mlx4_0", "qp_fatal", "4294967360"], "'4294967360' is not a number"),
    (["mlx4_0", "qp_fatal", "-1"], "'-1' is not a number"),
])
def test_a_wrong_event_command_is_refused_with_its_reason(run, softhca, daemon, words, complaint):
    done = run([softhca, "ctl", "event", *map(models.named, words)])
    assert done.returncode == 1 and re.search(models.named(complaint), done.stderr)
