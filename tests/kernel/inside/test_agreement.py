# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the emulated HCA's tests say of the kernel, asked of the kernel. Where they differ, the kernel is right."""

import os

import pytest

from lab import devices, run

PROGRAMS = os.path.join("tests", "e2e", "softhca")
SETTINGS = {"usual": {}, "no-open-qp": {"open_qp": 0}, "no-xrc": {"xrc": 0}}

# libmlx5 crashes where a handle from ibv_open_qp is destroyed (modern/provider.h says which versions).
DESTROYS_OPENED = {"open_qp: opened and closed"}


@pytest.mark.parametrize("setting", SETTINGS)
def test_refusals(provider, build_root, setting):
    with devices(provider, **SETTINGS[setting]):
        without = sorted(f"--without={name}" for name in DESTROYS_OPENED if provider == "mlx5")
        done = run([build_root / PROGRAMS / "softhca-refusals", setting, *without])
    assert done.returncode == 0, done.stdout + done.stderr


def test_agreement(hca, build_root):
    """A handle from ibv_open_qp hears nothing: ib_uverbs gives it no event file. When a kernel mends that, this says so."""
    raise_event = f"sh -c 'for i in $(seq $4); do echo $0 $1 $3 >/sys/kernel/debug/xrc_lab/{hca}_0/event || exit; done'"
    done = run([build_root / PROGRAMS / "softhca-agreement"], timeout=600,
               env={"AGREEMENT_RAISE": raise_event, "AGREEMENT_OPENED": "deaf"})
    assert done.returncode == 0, done.stdout + done.stderr
