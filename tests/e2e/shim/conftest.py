# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the rows of the contract."""

import pytest


@pytest.fixture(scope="session")
def contract(build_root):
    return build_root / "tests" / "e2e" / "shim" / "contract"


@pytest.fixture
def on_device(run, softhca, xrc_compat, contract, sanitizer_env):
    """on_device(mode, group, settings..., only=PART_OF_NAME): runs a group of rows on two devices
    with these settings of softhca."""

    def _on_device(mode, group, *settings, only=""):
        command = [
            softhca, "run", "--devices=2", *settings, "--", xrc_compat, "run", "--", contract
        ]
        return run([*command, f"--mode={mode}", f"--only={only}", group], timeout=120,
                   env=sanitizer_env)

    return _on_device
