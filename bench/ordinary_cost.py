#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Counts, with callgrind, the instructions that the library adds to ibv_create_qp and
ibv_destroy_qp of a program without XRC.

usage: ordinary_cost.py PROGRAM LIBRARY
Exit status 1 when the limit is exceeded.
"""

import os
import re
import subprocess
import sys

FEW, MANY, LIMIT = 1000, 101000, 20


def instructions(program, library, rounds):
    result = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program,
         str(rounds)], env=dict(os.environ, LD_PRELOAD=library), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, timeout=300, check=True)
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def per_round(program, library):
    return (instructions(program, library, MANY) - instructions(program, library, FEW)) / (MANY -
                                                                                           FEW)


def main(argv):
    if len(argv) != 3:
        print(__doc__.split("\n")[2], file=sys.stderr)
        return 2
    added = (per_round(argv[1], argv[2]) - per_round(argv[1], "")) / 2
    print(
        f"ibv_create_qp, ibv_destroy_qp of a program without XRC: {added:.1f} instructions more each (limit {LIMIT})"
    )
    return added > LIMIT


if __name__ == "__main__":
    sys.exit(main(sys.argv))
