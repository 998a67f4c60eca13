# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The storm of tests/chaos, with the adapter for the witness. Arguments as there, without a softhca
("-")."""

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

    def compare(self, name, witness, reported):
        if name != "kernel":
            super().compare(name, witness, reported)
        elif not witness()[0] <= set().union(*reported.values()):
            raise storm.Disagreement(f"the adapter has {witness()}, the processes say {reported}")


storm.Storm = StormOnDriver
sys.exit(storm.main(sys.argv))
