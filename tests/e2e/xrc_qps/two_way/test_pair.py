# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Two-way QPs: two hosts use them at once, in both dialects. A program sees one object, although
the library creates two QPs."""

import pytest

# One row of "order" is about SQD on mlx4, and another about its refusal on mlx5.
ROWS = {"state": 5, "order": 8, "error": 7, "event": 3}


@pytest.mark.parametrize("options", [[], ["--events"]], ids=["poll", "event"])
@pytest.mark.parametrize("dialect", ["ofed", "mlnx"])
def test_exchange_between_hosts(rows, dialect, options):
    """Send, write, read and atomics from both ends; each end knows one QP number of the other."""
    rows(26, f"exchange-{dialect}", *options, devices=2)


def test_exchange_between_hosts_without_the_arena(rows):
    rows(26, "exchange-ofed", devices=2, settings=["--arena=off"])


@pytest.mark.parametrize("group", ROWS)
def test_every_row_holds(rows, group):
    rows(ROWS[group], "two-way-pair", group, devices=2)


@pytest.mark.parametrize("group", ["state", "order"])
def test_every_row_holds_on_a_kernel_that_removes_no_mask_bits(rows, group):
    rows(ROWS[group], "two-way-pair", group, devices=2, settings=["--strict=on"])
