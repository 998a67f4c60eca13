# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The emulator's tests use the fixtures and helpers of all tests, and those of e2e/ in its rooms."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

sys.path[:0] = [str(HERE.parents[1] / "tests"), str(HERE / "e2e")]

from fixtures import *  # noqa: E402,F401,F403
