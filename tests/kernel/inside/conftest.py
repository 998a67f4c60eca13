# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tests in this folder run in the guest only, as root, with the kernel that is asked."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "e2e" / "shim")]

pytest_plugins = ["lab", "progress"]
collect_ignore_glob = [] if "XRC_LAB_MODULE" in os.environ else ["test_*"]
