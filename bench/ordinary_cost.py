#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Counts, with callgrind, the instructions that the library adds to each verb of a program without
XRC.

usage: ordinary_cost.py PROGRAM LIBRARY
Exit status 1 when the limit is exceeded, 2 when something cannot be measured, 77 without valgrind.
"""

import argparse
import os
import subprocess
import sys

import callgrind
from measured import measured

FEW, MANY, LIMIT = 1000, 21000, 10


def per_call(program, library, verb):
    return callgrind.per_call(
        FEW, MANY, lambda rounds: callgrind.instructions(
            program, verb, str(rounds), env=dict(os.environ, LD_PRELOAD=library)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("program")
    parser.add_argument("library")
    given = parser.parse_args()
    print(f"instructions more for each call of a program without XRC (limit {LIMIT}):")
    too_many = False
    for verb in subprocess.check_output([given.program], text=True).split():
        added = per_call(given.program, given.library, verb) - per_call(given.program, "", verb)
        print(f"ibv_{verb:16} {added:5.1f}")
        too_many |= added > LIMIT
    return too_many


if __name__ == "__main__":
    sys.exit(measured(main))
