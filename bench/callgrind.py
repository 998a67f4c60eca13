# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Counts instructions with callgrind. The counts do not depend on other work of the machine."""

import re
import shutil
import subprocess
import sys


def instructions(*command, **options):
    """The instructions of a whole run. Without valgrind the benchmark ends with 77."""
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(77)
    try:
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=300, check=True,
            **options)
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        raise
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def per_call(few, many, run):
    """The instructions of one call. run(count) counts those of a program with so many calls."""
    return (run(many) - run(few)) / (many - few)
