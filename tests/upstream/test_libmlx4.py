# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""libmlx4 returns heap memory as the XRC number of an ordinary SRQ. The patched libmlx4 refuses."""

import pytest

import faults

pytestmark = pytest.mark.any_model  # the test names its model

# malloc fills what it returns; it does not fill what comes from a thread's cache.
FILLED_HEAP = {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}


def test_an_ordinary_srq(run, softhca, build_root):
    done = run([
        softhca, "run", "--model=connectx3", "--", build_root / "tests" / "upstream" / "plain-srq"
    ], env=FILLED_HEAP)
    assert done.returncode == faults.expected(), done.stdout + done.stderr
