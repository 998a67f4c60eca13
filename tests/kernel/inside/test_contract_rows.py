# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The rows of the legacy contract."""

import pytest

import test_contract
from contract_rows import MODES, failures
from driver import PATCHED, QUERY_LACKS_XRC_PATH, run

NO_PATH = "r.attr.ah_attr.dlid is 0 (0x0), not 1 (0x1)"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", test_contract.GROUPS)
def test_rows(xrc_compat, build_root, mode, group):
    if group == test_contract.OPENED_EVENT and not PATCHED:
        pytest.skip("an unpatched kernel delivers no events to handles from ibv_open_qp")
    contract = build_root / "tests" / "e2e" / "shim" / "contract"
    found = failures(run([xrc_compat, "run", "--", contract, f"--mode={mode}", group]))
    found = [line for line in found if not (QUERY_LACKS_XRC_PATH and line.endswith(NO_PATH))]
    assert not found, "\n".join(found)
