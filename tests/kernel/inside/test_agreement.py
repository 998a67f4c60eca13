# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs two test programs of the emulated HCA on a real driver. If one fails, the emulated HCA is
wrong."""

import contextlib

import pytest

from driver import DEVICES, DRIVER, RAISE, run, without_xrc

FOLDER = "subprojects/softhca/tests/e2e"

# mlx5_ib registers no device without XRC.
SETTINGS = {"mlx4": ["usual", "no-xrc"], "mlx5": ["usual"]}[DRIVER]


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_driver_refuses_what_the_emulator_refuses(build_root, setting):
    with without_xrc() if setting == "no-xrc" else contextlib.nullcontext():
        done = run([build_root / FOLDER / "softhca-refusals", setting],
                   env={"SOFTHCA_TEST_DRIVEN": DRIVER})
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_driver_passes_the_cases_of_agreement(build_root):
    """A handle from ibv_open_qp gets no events, since it has no event file."""
    raise_event = f"{RAISE} ctl event {DEVICES[0]} $3 $2 $5"
    env = {"AGREEMENT_RAISE": f"sh -c '{raise_event}' raise", "AGREEMENT_OPENED": "deaf"}
    done = run([build_root / FOLDER / "softhca-agreement"], timeout=1200, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
