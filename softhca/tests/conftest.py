# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The emulator's tests use the fixtures and helpers of all tests."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))

from fixtures import *  # noqa: E402,F401,F403
