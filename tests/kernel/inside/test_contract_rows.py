# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The legacy contract, row by row: all rows, with messages."""

import pytest

import test_contract
from contract_rows import MODES, failures
from driver import PATCHED, QUERY_LACKS_XRC_PATH, run

# Two of `event` are about events of handles from ibv_open_qp, which get none (docs/upstream).
DEAF = 0 if PATCHED else 2

NO_PATH = "r.attr.ah_attr.dlid: got 0, want 1"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", test_contract.ROWS)
def test_rows(xrc_compat, build_root, mode, group):
    contract = build_root / "tests" / "e2e" / "shim" / "contract"
    deaf = ["--without-opened-events"] if group == "event" and DEAF else []
    done = run([xrc_compat, "run", "--", contract, f"--mode={mode}", *deaf, group])
    found = failures(done, group, mode, test_contract.ROWS[group] - (DEAF if deaf else 0))
    found = [line for line in found if not (QUERY_LACKS_XRC_PATH and line.endswith(NO_PATH))]
    assert not found, "\n".join(found)
