# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Commands that the kernel refuses once, a device that is gone, children of busy programs, and how a program ends."""

import pytest


def test_rows(rows):
    rows(6, "twoway-trouble", settings=["--devices=1"])


@pytest.mark.parametrize("open_qp", ["on", "off"])
def test_ends_with_its_last_thread(rows, open_qp):
    """The emulator's threads do not keep the program alive, nor, without ibv_open_qp, does the library's."""
    rows(1, "twoway-last-thread", settings=["--devices=1", f"--open_qp={open_qp}"])
