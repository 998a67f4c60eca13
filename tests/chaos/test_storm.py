# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Old programs are killed at random while they open, create, register, unregister, modify, query
and close.

STORM_KILLS (default 100; 10000 for the long one) kills among STORM_PROCESSES (default 32), half as
many with few QPs. STORM_SEED (default 20080204) is that of the dice. Scheduling differs from run to
run.
"""

import os

import pytest

KILLS = int(os.environ.get("STORM_KILLS", "100"))
PROCESSES = os.environ.get("STORM_PROCESSES", "32")
SEED = os.environ.get("STORM_SEED", "20080204")


# With few QPs the device soon gives a number out again.
@pytest.mark.any_model
@pytest.mark.parametrize("max_qp", [60000, 2000])
def test_storm(build_root, source_root, softhca, xrc_compat, run, tmp_path, max_qp):
    kills = KILLS if max_qp == 60000 else KILLS // 2
    result = run([
        softhca, "run", "--devices=1", f"--max_qp={max_qp}", "--", xrc_compat, "run", "--",
        source_root / "tests" / "chaos" / "storm.py", build_root / "tests" / "chaos" / "storm",
        softhca, xrc_compat, tmp_path, PROCESSES, kills, SEED
    ], timeout=60 + kills)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "all agreed" in result.stdout
