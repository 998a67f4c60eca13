# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs of the system that a test needs and that may not be installed."""

import shutil

import pytest


def need(*programs):
    """Skips the test if one of these programs is not installed."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
