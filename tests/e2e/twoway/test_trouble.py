# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the kernel refuses once, a device that is gone, children of programs that are busy, and a program's end."""

import pytest


def test_rows(rows):
    rows(6, "twoway-trouble", settings=["--devices=1"])


@pytest.mark.parametrize("open_qp", ["on", "off"])
def test_ends_with_its_last_thread(rows, open_qp):
    """Whatever threads the emulator has, and without ibv_open_qp the library."""
    rows(1, "twoway-last-thread", settings=["--devices=1", f"--open_qp={open_qp}"])
