# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Python calls the shim with structs of the layouts that were measured, between guard pages. No
header is read."""

import pathlib
import platform
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "ctypes_shim.py"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="the layouts here are those of x86_64")


def test_old_structs_carry_queries_and_events(run, softhca, shim):
    result = run([softhca, "run", "--devices=1", "--", sys.executable, SCRIPT, shim,
                  softhca])
    assert result.returncode == 0, f"status {result.returncode}\n{result.stdout}{result.stderr}"
