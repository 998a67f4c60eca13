# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the kernel refuses once, a device that is gone, and children of programs that are busy."""


def test_rows(rows):
    rows(7, "twoway-trouble", settings=["--devices=1"])


def test_serving_thread_keeps_no_program_alive(rows):
    rows(1, "twoway-trouble", "last of its threads", settings=["--devices=1", "--open_qp=off"])
