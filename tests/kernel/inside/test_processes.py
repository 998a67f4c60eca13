# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Processes that share a receive QP, also across namespaces: when the kernel destroys it."""

import os
import signal

import pytest

from driver import objects, targets
from members import sharing_a_domain
from waiting import wait_for

NEW_PIDS = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
# As in containers: each process has a /dev/shm of its own.
OWN_SHM = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs own /dev/shm && exec "$@"', "sh"]
INIT = 1
WAYS = {"side by side": [], "own pid namespace": NEW_PIDS, "own /dev/shm": OWN_SHM}


@pytest.fixture
def member(build_root, xrc_compat):
    with sharing_a_domain(build_root, xrc_compat) as make:
        yield make


@pytest.mark.parametrize("way", WAYS)
def test_the_qp_outlives_its_creator(member, way):
    creator = member(WAYS[way])
    other = member(WAYS[way], creator.number)
    creator.kill()
    assert targets() == {creator.number} and other.ask("q") == INIT
    late = member([], creator.number)
    assert other.ask("u") == 0 and targets() == {creator.number}
    assert late.ask("u") == 0 and targets() == set()
    assert (late.ask("c"), other.ask("c")) == (0, 0)


def test_the_kernel_frees_all_objects_before_wait_returns(member):
    before = objects()
    creator = member()
    assert objects() != before
    creator.kill()
    assert objects() == before


def test_a_forked_child_keeps_the_receive_qp_of_its_dead_parent(member):
    """The child has its parent's open files, and the kernel keeps the QP while one is open."""
    creator = member()
    child = creator.ask("f")
    creator.process.kill()
    creator.process.wait()
    assert targets() == {creator.number}
    os.kill(child, signal.SIGKILL)
    wait_for(lambda: targets() == set())


def test_a_child_that_executes_another_program_keeps_nothing(member):
    creator = member()
    child = creator.ask("x")
    wait_for(lambda: os.readlink(f"/proc/{child}/exe").endswith("sleep"))
    assert targets() == {creator.number}
    creator.process.kill()
    creator.process.wait()
    assert targets() == set()
