# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The rows of the legacy contract."""

import pytest

import test_contract
from contract_rows import MODES, failures
from driver import run


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", test_contract.GROUPS)
def test_rows_hold(xrc_compat, build_root, mode, group):
    contract = build_root / "tests" / "e2e" / "shim" / "contract"
    found = failures(run([xrc_compat, "run", "--", contract, f"--mode={mode}", group]))
    assert not found, "\n".join(found)
