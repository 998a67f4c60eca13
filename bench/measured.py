# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The exit status of a benchmark: 0 within its limits, 1 beyond a limit, 2 if it cannot be
measured, and 77 if a program that it needs is missing."""

import os
import sys

# The limits of times are multiplied by this. The benchmarks in C do not read it.
MARGIN = float(os.environ.get("SOFTHCA_MARGIN", "1"))


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def measured(main, **words):
    """The exit status of main(). A program that fails or hangs is no missed limit."""
    try:
        return main(**words)
    except Exception as error:
        return fail(f"{type(error).__name__}: {error}")
