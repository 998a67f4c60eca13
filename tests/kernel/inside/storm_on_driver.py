# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The storm of tests/chaos, which compares with the adapter's list of QPs. Its arguments are the
same; SOFTHCA is "-"."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1]), str(HERE.parents[1] / "chaos")]

import storm  # noqa: E402
from driver import targets  # noqa: E402


class StormOnDriver(storm.Storm):
    """The adapter learns of a QP when the QP leaves RESET. It lists the QP once, even if several
    handles are open. Each QP that the adapter lists must belong to a process. At the end the
    adapter must have no QP, and rmmod must work."""

    listed = 0    # QPs that the adapter listed, over all comparisons

    def kernel(self):
        return {(0, number) for number in targets()}

    def compare(self, name, listed, expected):
        if name != "kernel":
            super().compare(name, listed, expected)
            return
        numbers = {number for _, number in listed()}
        StormOnDriver.listed += len(numbers)
        if not numbers <= {number for _, number in expected}:
            raise storm.StormError(f"the adapter has {numbers}, the processes have {expected}")


storm.Storm = StormOnDriver
status = storm.main(sys.argv)
if not StormOnDriver.listed:
    sys.exit("the adapter never listed a QP")
sys.exit(status)
