# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the rows of the contract."""

import pytest


@pytest.fixture(scope="session")
def contract(build_root):
    return build_root / "tests" / "e2e" / "shim" / "contract"


@pytest.fixture
def on_device(below_shim, contract):
    """on_device(mode, group, settings..., only=PART_OF_NAME): runs a group of rows on two devices
    with these settings of softhca."""
    return lambda mode, group, *settings, only="": below_shim(
        contract, f"--mode={mode}", f"--only={only}", group, settings=settings)
