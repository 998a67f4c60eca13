# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Gives the tests the fixtures and helpers of harness/, and those of e2e/ to its subdirectories."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

sys.path[:0] = [str(HERE / "harness"), str(HERE / "e2e")]

from softhca_fixtures import *  # noqa: E402,F401,F403
