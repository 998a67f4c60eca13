# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tests in this directory run as root in the guest, on the distribution's own driver and two
emulated adapters."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[1]
sys.path[:0] = [
    str(HERE),
    str(HERE.parent),
    str(TESTS / "chaos"),
    str(TESTS / "e2e" / "shim"),
    str(TESTS / "e2e" / "xrc_qps" / "two_way"),
    str(TESTS.parent / "subprojects" / "softhca" / "tests" / "e2e"),
    str(TESTS.parent / "subprojects" / "softhca" / "tests" / "harness"),
    str(TESTS)
]

pytest_plugins = ["driver", "workers"]
if "XRC_LAB_KERNEL" not in os.environ:
    collect_ignore_glob = ["test_*"]
