# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What of the system a test needs and may not have."""

import shutil

import pytest


def need(*programs):
    """Skips the test that calls this where one of these programs is not installed."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
