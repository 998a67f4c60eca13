# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""No thread is cancelled inside any of the eight functions, although they make system calls that
are cancellation points."""


def test_rows(rows):
    rows(19, "twoway-cancel", settings=["--devices=1"])
