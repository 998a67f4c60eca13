# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the kernel refuses once, a device that is gone, and children of programs that are busy."""


def test_rows(rows):
    rows(6, "twoway-trouble", settings=["--devices=1"])
