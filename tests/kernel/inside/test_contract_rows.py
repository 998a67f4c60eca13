# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The legacy contract, row by row, on a real kernel: all rows that need no message."""

import pytest

import test_contract
import test_without_open_qp
from contract_rows import MODES, check
from lab import run

# How many rows each group has, less those that send: all of `data`, and one of `ordinary`. Two of `event` are about events of handles
# from ibv_open_qp, which get none (test_agreement.py).
ROWS = {**test_contract.ROWS, "event": test_contract.ROWS["event"] - 2, "ordinary": test_contract.ROWS["ordinary"] - 1}
del ROWS["data"]

# The same on a device without ibv_open_qp.
ROWS_WITHOUT_OPEN_QP = {key: count for key, count in test_without_open_qp.ROWS.items() if key[0] != "data"}


@pytest.fixture
def rows(xrc_compat, build_root):
    """rows(model, group, mode, count, options...): all that need no message are ok, and that many."""
    def _rows(model, group, mode, count, *options):
        contract = build_root / "tests" / "e2e" / "shim" / "contract"
        command = [xrc_compat, "run", "--", contract, f"--mode={mode}", "--without-data", *options, group]
        events = {"CONTRACT_EVENTS": f"/sys/kernel/debug/xrc_lab/{model}_1/event"}
        check(run(command, env=events), group, mode, count)

    return _rows


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", ROWS)
def test_rows(hca, rows, group, mode):
    deaf = ["--without-open-qp"] if group == "event" else []
    rows(hca, group, mode, ROWS[group], *deaf)


@pytest.mark.parametrize("group, mode", ROWS_WITHOUT_OPEN_QP)
def test_rows_without_open_qp(hca_without_open_qp, rows, group, mode):
    rows(hca_without_open_qp, group, mode, ROWS_WITHOUT_OPEN_QP[group, mode], "--without-open-qp")
