#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Counts, with callgrind, the instructions that the hooked slots add to one data-path call, and
prints them as a table.

usage: hook_cost.py HOOK_COST_PROGRAM
Exit status 1 when a limit is exceeded, 2 when something cannot be measured, 77 without valgrind.
"""

import argparse
import sys

import callgrind
from measured import measured

FEW, MANY = 10000, 110000
BATCH = 16


def per_call(program, case, batch=1):
    return callgrind.per_call(
        FEW, MANY, lambda count: callgrind.instructions(program, case, str(count), str(batch)))


def per_completion(program, case):
    """What each further completion of one ibv_poll_cq costs."""
    return (per_call(program, case, BATCH) - per_call(program, case, 1)) / (BATCH - 1)


# what, measure, hooked case, provider's own case, limit on the instructions added (None: only told)
ROWS = (
    ("ibv_post_srq_recv on an SRQ image", per_call, "post-image", "post-plain", 10),
    ("ibv_poll_cq two-way, each completion", per_completion, "poll-two-way", "poll-plain", 15),
    ("  where numbers are not tagged", per_completion, "poll-two-way-untagged", "poll-plain", 15),
    ("ibv_poll_cq two-way, call with 1 completion", per_call, "poll-two-way", "poll-plain", None),
)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("program")
    program = parser.parse_args().program
    failed = False
    print(f"{'data-path call':44}{'provider':>10}{'hooked':>10}{'added':>8}{'limit':>7}")
    for what, measure, hooked, own, limit in ROWS:
        before, after = measure(program, own), measure(program, hooked)
        # The instructions of a start differ between runs; per call that is the fifth decimal.
        failed |= limit is not None and round(after - before, 2) > limit
        print(f"{what:44}{before:10.1f}{after:10.1f}{after - before:8.1f}{limit or '-':>7}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(measured(main))
