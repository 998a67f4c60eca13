# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Injected faults of the wire and of commands: what the transport repairs, and what programs are
told."""

import re

import pytest

import models
from built import PROGRAMS
from installed import need

pytestmark = pytest.mark.any_model


@pytest.fixture
def under(below, softhca):
    """under(FAULTS, CASES): sets the faults by `softhca ctl fault`, and runs the cases of faulty.c
    whose names contain this. Returns how often each kind of fault hit, on all devices together."""
    script = r"""
    softhca=$1; shift
    for fault; do shift; [ "$fault" = -- ] && break; "$softhca" ctl fault $fault || exit 99; done
    "$@" || exit 98
    echo ==; "$softhca" ctl fault
    """

    def hits_of(faults, cases):
        done = below([], "bash", "-c", script, "faults", softhca, "all seed 7",
                     *map(models.named, faults), "--", PROGRAMS / "softhca-faulty", cases)
        hits = {}
        for kind, count in re.findall(r"(\w+)=\S+ hits=(\d+)", done.stdout.split("==\n")[1]):
            hits[kind] = hits.get(kind, 0) + int(count)
        return hits
    return hits_of


@pytest.mark.parametrize("faults, kinds", [
    (["all drop 5%", "all duplicate 5%"], ["drop", "duplicate"]),
    (["mlx4_1 drop 10%"], ["drop"]),  # only answers are lost: everything lost was executed
    (["all duplicate 100%"], ["duplicate"]),
    (["all delay 10% 300", "all drop 2%"], ["delay", "drop"]),
], ids=["drop-and-duplicate", "answers", "all-twice", "delay"])
def test_reliable_transports_repair_faults(under, faults, kinds):
    hits = under(faults, " once")
    assert {kind for kind in hits if hits[kind]} == set(kinds), hits


# retry_cnt is 7, and rnr_retry is 4.
@pytest.mark.parametrize("fault, case, kind, attempts", [
    ("mlx4_0 drop 100%", "nothing arrives", "drop", 8),
    ("mlx4_0 delay 100% 1", "receiver never ready", "delay", 5),
    ("all duplicate 100%", "datagram comes twice", "duplicate", 1),
    ("mlx4_0 delay 100% 20000", "a delayed message comes late", "delay", 1),
], ids=["everything_lost", "never_ready", "datagram", "late"])
def test_a_fault_hits_every_attempt(under, fault, case, kind, attempts):
    assert under([fault], case)[kind] == attempts


def test_unreliable_messages_are_whole_or_lost(under):
    assert under(["mlx4_0 drop 20%"], "unreliable messages are whole")["drop"] > 0


def test_faults_that_are_off_hit_nothing(under):
    """libmlx5 tries GET_CONTEXT again if it fails once."""
    hits = under(["all drop 50%", "all command any EIO 9", "all off"], "sends arrive once")
    assert hits and not any(hits.values())


def test_the_seed_decides_how_many_faults_hit(under):
    one, two = (under(["all drop 5%"], "a read or write that is posted once") for _ in range(2))
    assert one == two
    assert one != under(["all drop 5%", "all seed 8"], "a read or write that is posted once")


def test_pingpong(pair, softhca):
    """The distribution's program on a wire that loses packets. Its timeout is 67 ms, so there are
    few rounds."""
    pair(["ibv_rc_pingpong", "-n", "60", "-c"], before=f'"{softhca}" ctl fault all drop 5%',
         after=f'"{softhca}" ctl fault | grep -q "drop=5% hits=[1-9]"')


def test_next_command_fails(under):
    under(["mlx4_0 command CREATE_QP ENOMEM"], "one create fails")


def test_any_command_fails_of_one_device(run, softhca):
    need("ibv_devinfo")
    one, other = models.device(0), models.device(1)
    script = f'"{softhca}" ctl fault {one} command any EIO 9 && ! ibv_devinfo -d {one} && ibv_devinfo -d {other}'
    assert run([softhca, "run", "--", "sh", "-c", script]).returncode == 0


def test_a_fault_for_all_is_set_on_each_device(run, softhca):
    script = f'"{softhca}" ctl fault all delay 5% 300 && "{softhca}" ctl fault'
    done = run([softhca, "run", "--devices=3", "--", "sh", "-c", script])
    assert re.findall(r"^(\S+) .*delay=5%/300us", done.stdout, re.M) == [*map(models.device, range(3))]


def test_too_many_planned_failures_change_no_device(run, softhca):
    last = models.device(1)
    script = f"""for i in 1 2 3 4 5 6 7 8; do "{softhca}" ctl fault {last} command any EIO; done
"{softhca}" ctl fault all command any EIO; "{softhca}" ctl fault"""
    done = run([softhca, "run", "--", "sh", "-c", script])
    assert done.stderr == f"softhca: {last} has 8 planned faults already\n"
    assert done.stdout.count("any=EIO") == 8
