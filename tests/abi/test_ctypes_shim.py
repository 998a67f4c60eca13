# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Python calls the shim with structs of the layouts that were measured, between guard pages. No
header is read."""

import pathlib
import platform
import signal
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "ctypes_shim.py"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="the layouts here are those of x86_64")


@pytest.fixture
def call_shim(run, softhca, shim):
    return lambda check: run(
        [softhca, "run", "--devices=1", "--", sys.executable, SCRIPT, shim, check])


def test_old_structs_carry_a_message_queries_and_events(call_shim):
    result = call_shim("message")
    assert result.returncode == 0, f"status {result.returncode}\n{result.stdout}{result.stderr}"


@pytest.mark.usefixtures("own_crashes")
def test_a_write_behind_a_struct_is_noticed(call_shim):
    result = call_shim("overrun")
    assert result.returncode == -signal.SIGSEGV
    assert "in check_overrun" in result.stderr


def test_a_write_before_a_struct_is_noticed(call_shim):
    result = call_shim("underrun")
    assert result.returncode == 1
    assert result.stderr == ("underrun: memset wrote before its ibv_qp_init_attr, "
                             "at offsets [-4, -3, -2, -1]\n")
