# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The rows of the legacy contract."""

import pytest

import test_contract
from contract_rows import MODES, failures
from driver import PATCHED, QUERY_LACKS_XRC_PATH, run

NO_PATH = "r.attr.ah_attr.dlid: got 0, want 1"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", test_contract.GROUPS)
def test_rows(xrc_compat, build_root, mode, group):
    contract = build_root / "tests" / "e2e" / "shim" / "contract"
    # An unpatched kernel delivers no events to handles from ibv_open_qp (docs/upstream).
    options = [] if PATCHED else ["--without-opened-events"]
    done = run([xrc_compat, "run", "--", contract, f"--mode={mode}", *options, group])
    found = failures(done, group, mode, without_opened_events=not PATCHED)
    found = [line for line in found if not (QUERY_LACKS_XRC_PATH and line.endswith(NO_PATH))]
    assert not found, "\n".join(found)
