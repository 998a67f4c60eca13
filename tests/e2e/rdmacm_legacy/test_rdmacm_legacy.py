# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The shim and librdmacm in one process: old XRC QPs that librdmacm creates and connects, old SRQs
given to librdmacm, and librdmacm's SRQs in old domains."""

import os
import re

import pytest

import models
from installed import need, need_xclient, rping_may_wait_for_itself


@pytest.mark.parametrize("count, words", [(5, "rdmacm-legacy qp"), (4, "rdmacm-legacy srq"),
                                          (2, "rdmacm-two-way")])
def test_rows(below_shim, build_root, count, words):
    """With strict=on, uverbs removes no mask bits. A mask that it accepts works on all kernels."""
    program, *group = words.split()
    done = below_shim(build_root / "tests" / "e2e" / "rdmacm_legacy" / program, *group,
                      settings=["--strict=on"])
    passed = re.findall("^ok .*", done.stdout, re.M)
    assert len(set(passed)) == len(done.stdout.splitlines()) == count, done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


# Server and client. They call rdma_create_qp or rdma_create_ep, which the shim defines.
PROGRAMS = [("rping -s -a 198.18.1.1 -C 3 -V", "rping -c -a 198.18.1.1 -C 3 -V"),
            ("rdma_server -s 198.18.1.1", "rdma_client -s 198.18.1.1"),
            ("rdma_xserver -c x", "rdma_xclient -s 198.18.1.1 -c x")]

# The server does not say when it listens, so the client tries again as long as the server lives.
BOTH = """SOFTHCA_HOST=mlx4_1 {server} & server=$!
until SOFTHCA_HOST=mlx4_0 {client}; do kill -0 $server || exit 1; sleep 0.1; done
wait $server"""


@pytest.mark.parametrize("server, client", PROGRAMS, ids=[words.split()[0] for words, _ in PROGRAMS])
def test_programs_of_today_run_below_the_shim(below_shim, server, client):
    if "thread" in os.environ.get("SOFTHCA_TEST_SANITIZE", ""):
        pytest.skip("races between rping's own threads are not the shim's")
    need(server.split()[0])
    need_xclient(client)
    if server.startswith("rping") and rping_may_wait_for_itself():
        pytest.skip("rping of this release may wait for itself at its end")
    done = below_shim("sh", "-c", models.named(BOTH.format(server=server, client=client)),
                      XRC_COMPAT_VERBOSE="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(set(re.findall(r"xrc-compat\[(\d+)\]: version ", done.stderr))) >= 2
