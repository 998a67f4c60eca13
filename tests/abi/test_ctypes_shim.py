# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Python calls the shim with structures of exactly the old sizes. The reference data confirms
their layouts; no header is read."""

import pathlib
import platform
import signal
import sys

import pytest

from ctypes_shim import CHECKS
from legacy_structs import CLASSES, differences, reference

SCRIPT = pathlib.Path(__file__).parent / "ctypes_shim.py"
GUARD_CHECKS = {"overrun_dies", "underrun_is_seen"}

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="the layouts here are those of x86_64")


@pytest.fixture
def call_shim(run, softhca, shim, source_root):
    return lambda check: run(
        [softhca, "run", "--devices=1", "--", sys.executable, SCRIPT, shim, source_root, check])


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_layout(source_root, cls):
    assert differences(cls, reference(source_root)[cls.__name__]) == []


@pytest.mark.parametrize("check", sorted(set(CHECKS) - GUARD_CHECKS))
def test_shim(call_shim, check):
    result = call_shim(check)
    assert result.returncode == 0, f"status {result.returncode}\n{result.stdout}{result.stderr}"


@pytest.mark.usefixtures("own_crashes")
def test_a_write_behind_a_structure_is_noticed(call_shim):
    result = call_shim("overrun_dies")
    assert result.returncode == -signal.SIGSEGV
    assert "in check_overrun_dies" in result.stderr


def test_a_write_before_a_structure_is_noticed(call_shim):
    result = call_shim("underrun_is_seen")
    assert result.returncode == 1
    assert result.stderr == ("underrun_is_seen: memset wrote before its ibv_qp_init_attr, "
                             "at offsets [-4, -3, -2, -1]\n")
