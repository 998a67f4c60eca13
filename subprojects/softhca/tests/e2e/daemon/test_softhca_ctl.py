# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`softhca ctl` refuses wrong words with what is wrong, and changes nothing then. It lists what a
process holds."""

import concurrent.futures
import os
import shlex

import pytest

import models
from built import holding, sharing

pytestmark = pytest.mark.any_model

# (words of ctl, the beginning of the message). D stands for the first device.
REFUSED = [
    ("nonsense", "unknown command 'nonsense'; there are: status stop objects "),
    ("status word", "status takes no argument"),
    ("objects word", "objects takes no argument"),
    ("counters word", "counters takes no argument"),
    ("trace word", "trace takes [COUNT]"),
    ("trace 0", "trace takes [COUNT]"),
    ("trace 1025", "trace takes [COUNT]"),
    ("trace -1", "trace takes [COUNT]"),
    ("set", "set takes NAME=VALUE"),
    ("set xrc", "set takes NAME=VALUE"),
    ("set xrc=maybe", "xrc is on or off, not 'maybe'"),
    ("set nap=0", "nap is a number from 1 to 1000, not '0'"),
    ("set model=connectx5", "model can be set only when softhca starts"),
    ("set devices=99", "devices can be set only when softhca starts"),
    ("set xrcs=off", "unknown setting 'xrcs'"),
    ("fault D", "fault takes "),
    ("fault mlx9_0 drop 5%", "no device mlx9_0"),
    ("fault mlx4_00 drop 5%", "no device mlx4_00"),
    ("fault D nonsense", "cannot read 'nonsense'; fault takes "),
    ("fault all explode 5%", "cannot read 'explode'; fault takes "),
    ("fault D drop", "fault takes "),
    ("fault D drop 101%", "cannot read '101%'"),
    ("fault D drop x", "cannot read 'x'"),
    ("fault all drop 5", "cannot read '5'"),
    ("fault all drop -1%", "cannot read '-1%'"),
    ("fault all drop 0.00004%", "cannot read '0.00004%'"),
    ("fault D drop 5% 3", "fault takes "),
    ("fault D delay 5%", "fault takes "),
    ("fault D delay 5% x", "cannot read 'x'"),
    ("fault D delay 5% 1 2", "fault takes "),
    ("fault D delay 5% 10000001", "cannot read '10000001'"),
    ("fault D seed", "fault takes "),
    ("fault D seed x", "cannot read 'x'"),
    ("fault all seed 7x", "cannot read '7x'"),
    ("fault D seed 1 2", "fault takes "),
    ("fault D command CREATE_QP", "fault takes "),
    ("fault D command NOPE EIO", "cannot read 'NOPE'"),
    ("fault D command CREATE_QP ENOPE", "cannot read 'ENOPE'"),
    ("fault D command CREATE_QP EIO 0", "cannot read '0'"),
    ("fault D command CREATE_QP EIO 1 2", "fault takes "),
    ("fault D off now", "fault takes "),
    ("fault all off off", "fault takes "),
    ("event D", "event takes DEVICE NAME [NUMBER]"),
    ("event mlx9_0 port_active", "no device mlx9_0"),
    ("event '' port_active", "no device \n"),
    ("event D cq_err", "cq_err needs the number of its object"),
    ("event D cq_err x", "'x' is not a number"),
    ("event D cq_err 77", "no CQ 77 on this device"),
    ("event D qp_fatal 77", "no QP 77 on this device"),
    ("event D qp_fatal 4294967360", "'4294967360' is not a number up to 4294967295"),
    ("event D srq_err 77", "no SRQ 77 on this device"),
    ("event D device_fatal 1", "device_fatal takes no number"),
    ("event D port_err 2", "no port 2 on this device"),
    ("event D port_err 1 1", "event takes DEVICE NAME [NUMBER]"),
    ("port D", "port takes "),
    ("port D 1 sideways", "port takes "),
    ("port D -18446744073709551615 up", "'-18446744073709551615' is not a number"),  # wraps to 1
    ("port D 2 down", "no port 2"),
    (f"port D 1 {4000 * 'x'}", "port takes "),
    (f"port D 1 {4096 * 'x'}", "the words are too long for the daemon"),
    ("port mlx9_0 1 down", "no device mlx9_0"),
    ("migrate D", "migrate takes "),
    ("migrate D 77", "no QP 77"),
    ("migrate D x", "'x' is not a number"),
]


def arguments(words):
    words = shlex.split(models.named(words))
    return [models.device(0) if word == "D" else word for word in words]


def test_wrong_words_are_refused_and_change_nothing(daemon, run, softhca):
    def state():
        return [daemon.ask(*words) for words in (["status"], ["ctl", "fault"], ["ctl", "objects"])]

    before, wrong = state(), []
    for words, message in REFUSED:
        done = run([softhca, "ctl", *arguments(words)], env={"LD_PRELOAD": ""})
        if (done.returncode, done.stdout) != (1, "") or \
                f"softhca: {models.named(message)}" not in done.stderr:
            wrong.append((words, done))
    assert wrong == []
    assert state() == before


@pytest.mark.parametrize("words", [
    "trace 9", "trace 1024", "fault D delay 5% 10000000", "fault D seed 0",
    "fault D seed 18446744073709551615", "set nap=1000"])
def test_the_ends_of_a_range_are_taken(daemon, words):
    daemon.ask("ctl", *arguments(words))


def test_the_state_of_a_port_is_never_empty(daemon):
    """A program may read the file at any moment."""
    state = daemon.directory / "sys/class/infiniband" / models.device(0) / "ports/1/state"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        changes = pool.submit(lambda: [daemon.ask("ctl", "port", models.device(0), "1", way)
                                       for _ in range(50) for way in ("down", "up")])
        seen = set()
        while not changes.done():
            seen.add(state.read_text())
        changes.result()
    assert seen == {"4: ACTIVE\n", "1: DOWN\n"}


def test_status_counts_the_opened_devices(daemon):
    assert " 0 contexts, 0 files of rdma_cm\n" in daemon.status()
    with sharing(daemon):
        assert " 2 contexts, 0 files of rdma_cm\n" in daemon.status()


# What each object has besides its type, its handle and its uses.
MEMBERS = {
    "pd": ["number"],
    "mr": ["number", "length", "access"],
    "cq": ["number", "size", "completions", "channel", "overrun"],
    "srq": ["number", "xrc", "available", "limit", "async_events"],
    "qp": ["number", "qp_type", "state", "dest_qp_num", "handles", "groups", "async_events"],
    "xrcd": ["private", "inode", "handles"],
}


def test_objects_are_listed_with_their_members(daemon):
    with holding(daemon, "2"), sharing(daemon):
        contexts = daemon.objects()["contexts"]
    objects = [o for context in contexts for o in context["objects"]]
    assert {(o["type"], *o) for o in objects} == {
        (kind, "type", "handle", *members, "uses") for kind, members in MEMBERS.items()}
    for context in contexts:
        named = [(o["type"], o["handle"]) for o in context["objects"]]
        assert len(named) == len(set(named))


@pytest.mark.on_model("connectx3", "connectx5")  # their numbers differ
def test_lists_what_a_process_holds(daemon):
    with holding(daemon) as program:
        contexts = daemon.objects()["contexts"]
    assert [(c["device"], c["pid"]) for c in contexts] == [(models.device(0), program.pid),
                                                           (models.device(1), program.pid)]
    objects = {o.get("qp_type", o["type"]): o for o in contexts[0]["objects"]}
    assert sorted(objects) == ["RC", "XRC_RECV", "cq", "mr", "pd", "srq", "xrcd"]
    target = objects["XRC_RECV"]
    assert bool(target["number"] & 0x800000) == (models.driver() == "mlx4")
    assert target["handles"] == 1 and target["state"] == "RESET"
    assert objects["xrcd"]["inode"] == os.stat(daemon.scratch / "domain").st_ino
    daemon.until_empty()
