# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes each result to a file of the host at once. pytest prints its summary at the end, which a
guest that crashes does not reach."""

import pathlib
import time

LAB = pathlib.Path("/lab")
RUNNING, FAILURES, PASSED = LAB / "running", LAB / "failures", LAB / "passed"


def write(path, text):
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def pytest_runtest_logstart(nodeid):
    write(RUNNING, f"{time.monotonic():.1f} {nodeid}\n")


def pytest_runtest_logreport(report):
    if report.failed:
        write(FAILURES, f"{report.nodeid} ({report.when}):\n{report.longreprtext}\n\n")
    elif report.passed and report.when == "call":
        write(PASSED, f"{report.nodeid}\n")
