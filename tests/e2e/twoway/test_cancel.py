# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Nothing inside any of the eight functions can be cancelled, whatever system calls lie below."""


def test_rows(rows):
    rows(19, "twoway-cancel", settings=["--devices=1"])
