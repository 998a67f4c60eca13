# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Gives the emulator's tests the fixtures and helpers of tests/, and those of e2e/ to its
subdirectories."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

sys.path[:0] = [str(HERE.parents[2] / "tests"), str(HERE / "e2e")]

from fixtures import *  # noqa: E402,F401,F403
