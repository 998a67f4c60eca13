# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Kills legacy programs at random. Their reports agree with the registration table, and a process
reports each receive QP of the adapter."""

import os

import storm
from driver import targets

KILLS = os.environ.get("STORM_KILLS", "500")


class StormOnDriver(storm.Storm):
    """The storm of tests/chaos with the adapter's list of QPs in place of the kernel's. The adapter
    learns of a QP when the QP leaves RESET, and lists it once for all its handles."""

    listed = 0  # QPs, over all comparisons

    def kernel(self):
        return targets()

    def compare(self, name, listed, expected):
        if name != "kernel":
            super().compare(name, listed, expected)
            return
        found = listed()
        self.listed += len(found)
        if not found <= {number for _, number in expected}:
            raise storm.StormError(f"the adapter has {found}, the processes have {expected}")

    def run(self, kills):
        super().run(kills)
        if not self.listed:
            raise storm.StormError("the adapter never listed a QP")


def test_registrations_agree_after_random_kills(build_root, xrc_compat, tmp_path, monkeypatch):
    program = build_root / "tests" / "chaos" / "storm"
    monkeypatch.setenv("LD_PRELOAD", str(build_root / "shim" / "libxrc-compat.so.1"))
    argv = ["storm.py", program, "-", xrc_compat, str(tmp_path), "8", KILLS, "20080204"]
    assert storm.main(argv, StormOnDriver) == 0
    assert targets() == set()
