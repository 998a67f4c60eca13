# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Commands that the kernel refuses once, a device that is gone, children of busy programs, and how
a program ends."""

import pytest


def test_rows(rows):
    rows(7, "twoway-trouble", settings=["--devices=1"])


SETTINGS = pytest.mark.parametrize("setting", ["--arena=on", "--arena=off"])


@SETTINGS
def test_ends_with_its_last_thread(rows, setting):
    """The emulator's threads do not keep the program alive."""
    rows(2, "twoway-last-thread", settings=["--devices=1", setting])


@SETTINGS
def test_goes_on_without_main(rows, setting):
    rows(2, "twoway-last-thread", "exits", settings=["--devices=1", setting])
