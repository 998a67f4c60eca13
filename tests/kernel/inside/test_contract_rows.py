# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The legacy contract, row by row, on a real kernel: all rows that need no message."""

import pytest

import test_contract
from contract_rows import MODES, check
from lab import devices, run

# How many rows each group has, less those that send: all of `data`, and one of `ordinary`. Two of `event` are about events of opened
# handles, which get none (test_agreement.py).
ROWS = {**test_contract.ROWS, "event": test_contract.ROWS["event"] - 2, "ordinary": test_contract.ROWS["ordinary"] - 1}
del ROWS["data"]


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
    deaf = ["--without-opened-events"] if group == "event" else []
    rows(hca, group, mode, ROWS[group], *deaf)


@pytest.mark.parametrize("mode", MODES)
def test_a_device_that_refuses_open_qp(provider, rows, mode):
    with devices(provider, open_qp=0):
        rows(provider, "no_open_qp", mode, test_contract.ABSENT_ROWS["no_open_qp"])
