# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The faults of providers that the library works around: they are there, in those releases that its table names."""

import json
import os
import pathlib

import pytest

PROGRAM = pathlib.Path(os.environ["SOFTHCA_TEST_PROGRAMS"]) / "softhca-opened"


@pytest.mark.parametrize("verb", ["destroy", "reset"])
def test_a_fault_is_where_the_table_says(run, softhca, xrc_compat, verb):
    """If the program crashes where no detour is known, or does not crash where one is taken, the table is wrong."""
    report = json.loads(run([softhca, "run", "--", xrc_compat, "check", "--json", PROGRAM]).stdout)
    detours = {name for device in report["devices"] for name in device["detours"]}
    crashed = run([softhca, "run", "--", PROGRAM, verb]).returncode < 0
    assert crashed == any(name.endswith(f"-{verb}-opened") for name in detours), detours
