# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What libmlx5 does wrong with handles from ibv_open_qp and with destroyed XRC SRQs. The patched
libmlx5 does not, and libmlx4 never did."""

import ctypes
import os
import pathlib
import re

import pytest

PATCHED = os.environ.get("XRC_COMPAT_TEST_RDMA_CORE", "").endswith("+patched")

# docs/upstream/README.md: from which release on
SINCE = {"destroy": 40, "reset": 26}


def release():
    """Of the libibverbs that programs get here: libibverbs.so.1.14.RELEASE.0."""
    ctypes.CDLL("libibverbs.so.1")
    return int(
        re.search(r"libibverbs\.so\.1\.\d+\.(\d+)",
                  pathlib.Path("/proc/self/maps").read_text(encoding="utf-8"))[1])


@pytest.mark.parametrize("how", SINCE)
def test_an_opened_handle(run, softhca, build_root, how):
    program = build_root / "tests" / "upstream" / "opened-end"
    done = run([softhca, "run", "--model=connectx5", "--", program, how])
    assert done.returncode not in (2, 3), done.stdout + done.stderr
    assert (done.returncode !=
            0) == (not PATCHED and
                   release() >= SINCE[how]), f"exit status {done.returncode}: {done.stderr}"


@pytest.mark.parametrize("adapter", ["connectx3", "connectx5"])
def test_completions_of_a_destroyed_xrc_srq(run, softhca, build_root, adapter):
    program = build_root / "tests" / "upstream" / "destroyed-srq"
    done = run([softhca, "run", f"--model={adapter}", "--", program])
    assert done.returncode == (adapter == "connectx5" and not PATCHED), done
