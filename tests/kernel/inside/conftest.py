# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tests in this folder run in the guest only, as root, with the kernel that is asked."""

import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "e2e" / "shim")]

pytest_plugins = ["lab"]
collect_ignore_glob = [] if "XRC_LAB_MODULE" in os.environ else ["test_*"]


# Pytest tells at its end, to which a guest need not come. These are files of the machine's own.
RUNNING, FAILURES = pathlib.Path("/lab/running"), pathlib.Path("/lab/failures")


def pytest_runtest_logstart(nodeid):
    with RUNNING.open("a", encoding="utf-8") as file:
        file.write(f"{time.monotonic():.1f} {nodeid}\n")


def pytest_runtest_logreport(report):
    if report.failed:
        with FAILURES.open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid} ({report.when}):\n{report.longreprtext}\n\n")
