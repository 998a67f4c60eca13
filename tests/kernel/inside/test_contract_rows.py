# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The legacy contract, row by row, on a real kernel."""

import pytest

from contract_rows import MODES, check
from lab import run

ROWS = {
    "open": 20, "close": 17, "srq": 24, "xrc_qp": 29, "rcv_qp": 27, "query": 16, "reg": 20, "end": 19, "bad_input": 28,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", ROWS)
def test_rows(hca, xrc_compat, build_root, group, mode):
    contract = build_root / "tests" / "e2e" / "shim" / "contract"
    check(run([xrc_compat, "run", "--", contract, f"--mode={mode}", group]), group, mode, ROWS[group])
