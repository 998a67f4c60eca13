# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The same rows on devices without ibv_open_qp, except those that need the kernel; and rows of what the owner does instead."""

import pytest

from contract_rows import check

# Per group and mode. Fewer than with ibv_open_qp where a QP would have to outlive the process that made it, and where
# an event would have to reach a process that has no handle.
ROWS = {
    ("close", "contexts"): 17, ("close", "processes"): 17,
    ("rcv_qp", "contexts"): 28, ("rcv_qp", "processes"): 28,
    ("query", "contexts"): 16, ("query", "processes"): 16,
    ("reg", "contexts"): 20, ("reg", "processes"): 20,
    ("end", "contexts"): 19, ("end", "processes"): 17,
    ("data", "contexts"): 12, ("data", "processes"): 10,
    ("event", "contexts"): 10, ("event", "processes"): 10,
    ("owner", "processes"): 6,
}


@pytest.mark.parametrize("group, mode", ROWS)
def test_rows(on_device, group, mode):
    # Few QPs, so that the device soon gives a number out again.
    result = on_device(mode, group, "--open_qp=off", "--max_qp=500", options=["--without-open-qp"])
    check(result, group, mode, ROWS[group, mode])
