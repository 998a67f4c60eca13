# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""libmlx4 and libmlx5 have the faults that docs/upstream describes; patched ones do not."""

import os

import pytest

from facts import FILLED_HEAP
from installed import rdma_core_release

pytestmark = pytest.mark.any_model  # each row names its model

# docs/upstream/README.md says how to make that build.
PATCHED = "+patched/" in os.environ.get("SOFTHCA_TEST_RDMA_CORE", "")
NEWEST = 65  # release that docs/upstream knows; a newer one may have the corrections
NEVER = 1 << 16


@pytest.mark.parametrize("adapter, fault, since", [
    ("connectx3", "plain-srq", 0),
    ("connectx3", "polled-late", NEVER),
    ("connectx5", "polled-late", 0),
    ("connectx5", "destroy", 40),
    ("connectx5", "reset", 26),
])
def test_fault(run, softhca, build_root, adapter, fault, since):
    release = rdma_core_release()
    if not PATCHED and release > NEWEST:
        pytest.skip(f"docs/upstream does not say whether rdma-core {release} has the fault")
    program = build_root / "tests" / "upstream" / "faults"
    env = FILLED_HEAP if fault == "plain-srq" else {}
    done = run([softhca, "run", f"--model={adapter}", "--", program, fault], env=env)
    assert "reached" in done.stdout and "FAIL" not in done.stdout, done
    assert (done.returncode != 0) == (not PATCHED and release >= since), done
