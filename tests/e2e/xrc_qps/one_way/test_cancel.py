# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""No thread is cancelled inside any of the eight functions. They make system calls that are
cancellation points."""


def test_every_row_holds(rows):
    rows(7, "one-way-cancel")
