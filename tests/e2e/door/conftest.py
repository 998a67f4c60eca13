# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The directory of these programs, and what a program that makes the calls prints."""

import pytest


@pytest.fixture(scope="session")
def door(build_root):
    return build_root / "tests" / "e2e" / "door"


@pytest.fixture(scope="session")
def completed():
    """completed(result): the program made all calls and exited with 0."""
    def _completed(result):
        assert (result.returncode, result.stdout.splitlines()) == (
            0, ["calls: done"]), result

    return _completed
