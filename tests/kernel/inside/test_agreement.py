# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the emulated HCA's tests say of the kernel, asked of the kernel. Where they differ, the kernel is right."""

import os

import pytest

from lab import devices, run

PROGRAMS = os.path.join("softhca", "tests", "e2e")
SETTINGS = {"usual": {}, "no-open-qp": {"open_qp": 0}, "no-xrc": {"xrc": 0}, "beyond": {}}


@pytest.mark.parametrize("setting", SETTINGS)
def test_refusals(provider, build_root, setting):
    with devices(provider, **SETTINGS[setting]):
        done = run([build_root / PROGRAMS / "softhca-refusals", setting])
    assert done.returncode == 0, done.stdout + done.stderr


# As test_softhca_verbs.py sets them on the emulated HCA.
LIMITS = {"max_qp": 3, "max_cq": 3, "max_srq": 2, "max_mr": 3, "max_pd": 2, "max_qp_wr": 20, "max_sge": 4, "max_cqe": 127,
          "max_srq_wr": 31, "max_srq_sge": 3, "max_qp_rd_atom": 4, "max_qp_init_rd_atom": 8}


def test_limits(provider, build_root):
    with devices(provider, **LIMITS):
        done = run([build_root / PROGRAMS / "softhca-limits"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_agreement(hca, build_root):
    """A handle from ibv_open_qp gets no events, because ib_uverbs gives it no event file. On a kernel that mends this, the test fails."""
    raise_event = f"sh -c 'for i in $(seq $4); do echo $0 $1 $3 >/sys/kernel/debug/xrc_lab/{hca}_0/event || exit; done'"
    done = run([build_root / PROGRAMS / "softhca-agreement"], timeout=600,
               env={"AGREEMENT_RAISE": raise_event, "AGREEMENT_OPENED": "deaf"})
    assert done.returncode == 0, done.stdout + done.stderr
