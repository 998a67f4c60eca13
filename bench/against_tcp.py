# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the benchmarks share that compare the emulated HCA with TCP: their command line, processors
that do not sleep, and the rows of their tables."""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys

from measured import MARGIN, fail

APART = [str(processor) for processor in sorted(os.sched_getaffinity(0))[:2]]


def words_of(usage, rounds, *programs):
    """The command line: the programs, and the number of rounds, by default @rounds. Ends the
    program where both ends cannot have a processor of their own."""
    parser = argparse.ArgumentParser(usage=usage)
    for program in programs:
        parser.add_argument(program)
    parser.add_argument("rounds", nargs="?", type=int, default=rounds)
    words = parser.parse_args()
    if words.rounds < 2:
        parser.error("ROUNDS is at least 2")
    if len(APART) < 2:
        print("skipped: there is one processor")
        sys.exit(77)
    return vars(words)


@contextlib.contextmanager
def kept_awake(awake):
    """How the processors are kept from sleeping, in words."""
    with subprocess.Popen([awake], stdout=subprocess.PIPE, text=True) as process:
        how = process.stdout.readline().strip()
        try:
            yield how or fail("the processors cannot be kept awake")
        finally:
            process.kill()


def print_row(label, pairs, sign, limit, aim=None):
    """Whether the worse quartile of the ratio meets its limit. The aim is for the median of the
    ratio. The pairs are values of the HCA and of TCP."""
    columns = [statistics.quantiles(values, n=4, method="inclusive")
               for values in (*zip(*pairs), [ours / tcp for ours, tcp in pairs])]
    text = " ".join("".join(f" {value:6.2f}" for value in column) for column in columns)
    low, middle, high = columns[-1]
    meets = float.__ge__ if sign == ">=" else float.__le__
    limit = limit / MARGIN if sign == ">=" else limit * MARGIN
    good = meets(low if sign == ">=" else high, limit)
    aimed = f", aim {aim:.2f}{'' if meets(middle, float(aim)) else ' missed'}" if aim else ""
    print(f"{label} {text}  {sign} {limit:.2f}{'' if good else ' MISSED'}{aimed}")
    return good
