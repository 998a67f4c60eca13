# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The rows on devices without ibv_open_qp, except those that need it, and rows about the owner, which serves the others then."""

import pytest

from contract_rows import check

# Rows of each group and mode. There are fewer where a QP would have to outlive the process that created it, or an event to
# reach a process that has no handle.
ROWS = {
    ("close", "contexts"): 17, ("close", "processes"): 17,
    ("rcv_qp", "contexts"): 27, ("rcv_qp", "processes"): 27,
    ("query", "contexts"): 16, ("query", "processes"): 16,
    ("reg", "contexts"): 19, ("reg", "processes"): 19,
    ("end", "contexts"): 19, ("end", "processes"): 17,
    ("data", "contexts"): 12, ("data", "processes"): 10,
    ("event", "contexts"): 10, ("event", "processes"): 10,
    ("owner", "processes"): 5,
}


@pytest.mark.parametrize("group, mode", ROWS)
def test_rows(on_device, group, mode):
    # Few QPs, so that the device soon gives a number out again.
    result = on_device(mode, group, "--open_qp=off", "--max_qp=500", options=["--without-open-qp"])
    check(result, group, mode, ROWS[group, mode])
