# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The rows of the legacy contract."""

import pytest

import test_contract
from contract_rows import MODES, failures
from driver import run


# Linux delivers no events to handles from ibv_open_qp (docs/upstream).
GROUPS = [group for group in test_contract.GROUPS if group != test_contract.OPENED_EVENT]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", GROUPS)
def test_rows_hold(xrc_compat, build_root, mode, group):
    contract = build_root / "tests" / "e2e" / "shim" / "contract"
    found = failures(run([xrc_compat, "run", "--", contract, f"--mode={mode}", group]))
    assert not found, "\n".join(found)
