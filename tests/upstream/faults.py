# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Whether the rdma-core at hand has a fault that docs/upstream describes."""

import os

import pytest

from installed import rdma_core_release

PATCHED = os.environ.get("XRC_COMPAT_TEST_RDMA_CORE", "").endswith("+patched")

NEWEST = 65  # release that docs/upstream knows


def expected(since=0):
    """Whether a fault that began with release `since` is expected. A release that is newer than
    docs/upstream may have the correction, so the test is skipped there."""
    release = rdma_core_release()
    if not PATCHED and release > NEWEST:
        pytest.skip(f"docs/upstream does not say whether rdma-core {release} has the fault")
    return not PATCHED and release >= since
