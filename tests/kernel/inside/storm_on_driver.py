# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The storm of tests/chaos. It compares with the adapter's list. Arguments as there; SOFTHCA is
"-"."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1]), str(HERE.parents[1] / "chaos")]

import storm  # noqa: E402
from driver import targets  # noqa: E402


class StormOnDriver(storm.Storm):
    """The adapter learns of a QP when the QP leaves RESET. It lists the QP once, even if several
    handles are open. Some process must hold each QP that the adapter lists. At the end the adapter
    and rmmod show that nothing has stayed."""

    def kernel(self):
        return {0: targets()}

    def compare(self, name, listed, expected):
        if name != "kernel":
            super().compare(name, listed, expected)
            return
        numbers = listed()[0]
        if not numbers <= set().union(*expected.values()):
            raise storm.StormError(f"the adapter has {numbers}, the processes have {expected}")


storm.Storm = StormOnDriver
sys.exit(storm.main(sys.argv))
