#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Measures the time and the system calls that `xrc-compat trace` adds to one legacy call.

usage: trace_cost.py SOFTHCA XRC-COMPAT TRACE-CALLS
Limits:
- of time: 1.5 times what a trace cannot do without (TRACE-CALLS has it), and 4 times with --json.
  The time is the least of several runs. SOFTHCA_MARGIN=2 makes both limits twice as wide.
- of system calls: 2 for each legacy call, and 0.1 for those that come now and then.

Exit statuses:
- 1: beyond a limit
- 2: something cannot be measured
- 77: the times are within their limits, and strace, which counts the system calls, is missing
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile

from measured import MARGIN, measured

FEW, MANY, RUNS = 1000, 20000, 5
MOST_TIMES = {"trace": 1.5 * MARGIN, "trace --json": 4 * MARGIN}
MOST_SYSTEM_CALLS = 2.1


def run(argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, universal_newlines=True, timeout=300,
                          check=True).stdout


def microseconds(softhca, way, *program):
    return min(
        int(run([softhca, "run", "--devices=1", "--", *way, *program]).split()[-1])
        for _ in range(RUNS)) / 1000


def system_calls(softhca, way, program, count):
    """Of the whole program; the difference of two counts is what the calls make."""
    with tempfile.NamedTemporaryFile("r") as summary:
        run([
            softhca, "run", "--devices=1", "--", *way, "strace", "-qq", "-c", "-o", summary.name,
            program,
            str(count)
        ])
        return int(re.search(r"^100\.00 .*?(\d+)(?: +\d+)? total$", summary.read(), re.M).group(1))


def main(softhca, xrc_compat, program, folder):
    output = ["--output", f"{folder}/trace.%p", "--"]
    ways = {
        "run": [xrc_compat, "run", "--"], "trace": [xrc_compat, "trace", *output],
        "trace --json": [xrc_compat, "trace", "--json", *output]
    }
    failed = False
    alone = microseconds(softhca, ways["run"], program, str(MANY))
    needed = microseconds(softhca, ways["run"], program, str(MANY), "yardstick")
    print(f"one call without a trace: {alone:.2f} us; a walk and two system calls: {needed:.2f} us")
    for name, most in MOST_TIMES.items():
        added = microseconds(softhca, ways[name], program, str(MANY)) - alone
        failed |= added > most * needed
        print(f"{name + ' adds':20} {added:6.2f} us a call, {added / needed:.2f} times (limit {most})")
    if not shutil.which("strace"):
        print("skipped: strace, which counts system calls, is not installed")
        return failed or 77
    counts = [system_calls(softhca, ways["trace"], program, count) for count in (FEW, MANY)]
    added = (counts[1] - counts[0]) / (MANY - FEW)
    print(f"{'trace makes':20} {added:6.2f} system calls in the program for each (limit {MOST_SYSTEM_CALLS})")
    return failed or added > MOST_SYSTEM_CALLS


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    for name in ("softhca", "xrc_compat", "program"):
        parser.add_argument(name)
    with tempfile.TemporaryDirectory(prefix="trace-cost.") as folder:
        sys.exit(measured(main, **vars(parser.parse_args()), folder=folder))
