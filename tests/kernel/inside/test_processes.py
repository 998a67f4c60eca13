# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Processes that share a receive QP, also across namespaces: when the kernel destroys it."""

import pytest

from driver import objects, targets

NEW_PIDS = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
WAYS = {"side by side": [], "own pid namespace": NEW_PIDS}


@pytest.mark.parametrize("way", WAYS)
def test_the_qp_outlives_its_creator(worker, way):
    creator, other, late = worker(WAYS[way]), worker(WAYS[way]), worker()
    number = creator.create()
    assert other.ask("reg", number) == 0
    creator.kill()
    assert targets() == {number}
    assert late.ask("reg", number) == 0
    assert other.ask("unreg", number) == 0 and targets() == {number}
    assert late.ask("unreg", number) == 0 and targets() == set()


def test_the_kernel_frees_qps_cqs_and_srqs_before_wait_returns(worker):
    before = objects()
    creator = worker()
    creator.create()
    assert objects() != before
    creator.kill()
    assert objects() == before
