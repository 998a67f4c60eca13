# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The shim beside librdmacm in one process: old XRC QPs that librdmacm makes and connects, and SRQs
of one used with the other."""

import os

import pytest

import models
from installed import need, need_xclient, rping_may_wait_for_itself

# How many rows each group has, so that a lost row is noticed. The last group has a program of its
# own.
ROWS = {"qp": 5, "srq": 5, "twoway": 2}


@pytest.fixture
def program(run, softhca, xrc_compat, build_root, sanitizer_runtime):
    def _program(group, *settings):
        folder = build_root / "tests" / "e2e" / "rdmacm_legacy"
        command = [folder /
                   "rdmacm-two-way"] if group == "twoway" else [folder / "rdmacm-legacy", group]
        return run(
            [softhca, "run", "--devices=2", *settings, "--", xrc_compat, "run", "--", *command],
            timeout=150, env={"LD_PRELOAD": sanitizer_runtime} if sanitizer_runtime else None)

    return _program


@pytest.mark.parametrize("group", ROWS)
def test_rows(program, group):
    """The kernel removes no mask bits. A mask that works on it works on other kernels."""
    done = program(group, "--strict=on")
    rows = done.stdout.splitlines()
    assert [row for row in rows if not row.startswith("ok ")] == [], done.stderr
    assert (done.returncode, len(rows)) == (0, ROWS[group]), done.stderr


# Server and client. They call rdma_create_qp and rdma_create_ep, which the shim defines.
TODAYS = [("rping -s -a 198.18.1.1 -C 3 -V", "rping -c -a 198.18.1.1 -C 3 -V"),
          ("rdma_server -s 198.18.1.1", "rdma_client -s 198.18.1.1"),
          ("rdma_xserver -c x", "rdma_xclient -s 198.18.1.1 -c x")]

# The server does not say when it listens, so the client tries again as long as the server lives.
BOTH = """SOFTHCA_HOST=mlx4_1 {server} & server=$!
until SOFTHCA_HOST=mlx4_0 {client}; do kill -0 $server || exit 1; sleep 0.1; done
wait $server"""


@pytest.mark.parametrize("server, client", TODAYS, ids=[server.split()[0] for server, _ in TODAYS])
def test_programs_of_today_are_left_alone(run, softhca, xrc_compat, server, client,
                                          sanitizer_runtime):
    if "thread" in os.environ.get("XRC_COMPAT_TEST_SANITIZE", ""):
        pytest.skip("races between rping's own threads are not the shim's")
    need(server.split()[0])
    need_xclient(client)
    if server.startswith("rping") and rping_may_wait_for_itself():
        pytest.skip("rping of this release may wait for itself at its end")
    done = run([softhca, "run", "--devices=2", "--", xrc_compat, "run", "--", "sh", "-c",
                models.named(BOTH.format(server=server, client=client))], timeout=90,
               env={"LD_PRELOAD": sanitizer_runtime} if sanitizer_runtime else None)
    assert done.returncode == 0, done.stdout + done.stderr
