# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The storm of tests/chaos, with the lab's list of objects for the kernel's witness. Arguments as there, without a softhca ("-")."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1]), str(HERE.parents[1] / "chaos")]

import storm  # noqa: E402
from lab import objects  # noqa: E402


class StormOnLab(storm.Storm):
    """A QP is in the list once, however many hold it, and under who made it, who may be gone."""

    def kernel(self):
        numbers = {int(line.split()[2], 0) for line in objects() if line.split()[1] == "target"}
        return {0: numbers}

    def compare(self, name, witness, said):
        if name == "kernel":
            said = {0: set().union(*said.values())}
        super().compare(name, witness, said)


storm.Storm = StormOnLab
sys.exit(storm.main(sys.argv))
