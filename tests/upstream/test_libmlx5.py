# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What libmlx5 does wrong with handles from ibv_open_qp and with destroyed XRC SRQs. The patched
libmlx5 does not, and libmlx4 never did."""

import pytest

import faults

pytestmark = pytest.mark.any_model  # each test names its model

# docs/upstream/README.md: from which release on
SINCE = {"destroy": 40, "reset": 26}


@pytest.mark.parametrize("how", SINCE)
def test_an_opened_handle(run, softhca, build_root, how):
    program = build_root / "tests" / "upstream" / "opened-end"
    done = run([softhca, "run", "--model=connectx5", "--", program, how])
    assert done.returncode not in (2, 3), done.stdout + done.stderr
    assert (done.returncode != 0) == faults.expected(SINCE[how]), done


@pytest.mark.parametrize("adapter", ["connectx3", "connectx5"])
def test_completions_of_a_destroyed_xrc_srq(run, softhca, build_root, adapter):
    program = build_root / "tests" / "upstream" / "destroyed-srq"
    done = run([softhca, "run", f"--model={adapter}", "--", program])
    assert done.returncode == (adapter == "connectx5" and faults.expected()), done
