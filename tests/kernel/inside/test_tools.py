# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The xrc-compat command on a real kernel."""

import json
import os
import re

import pytest

from lab import run
from members import registrations, sharing_a_domain
from test_processes import targets


@pytest.fixture
def name(hca):
    """Of the first of two devices."""
    return f"{hca}_0"


@pytest.fixture
def member(name, build_root, xrc_compat):
    with sharing_a_domain(build_root, xrc_compat) as make:
        yield make


def test_doctor_finds_nothing_wrong(name, xrc_compat):
    own = [word for variable in os.environ if variable.startswith(("XRC_COMPAT_", "SOFTHCA_")) for word in ("-u", variable)]
    done = run(["env", *own, xrc_compat, "doctor"])
    assert done.returncode == 0, done.stdout
    assert "2 of 2 can carry XRC" in done.stdout


def test_check(name, xrc_compat, build_root):
    done = run([xrc_compat, "check", "--json", build_root / "tests" / "kernel" / "member"])
    assert done.returncode == 0, done.stdout + done.stderr
    check = json.loads(done.stdout)
    assert check["verdict"] == "ready"
    assert [(device["name"], device["xrc"]) for device in check["devices"]] == [(name, True), (name[:-1] + "1", True)]


def test_selftest_goes_as_far_as_control_does(name, xrc_compat):
    done = run([xrc_compat, "selftest"], timeout=300)
    assert "FAILED" not in done.stdout and "not tried " not in done.stdout, done.stdout + done.stderr
    assert re.search(r"^no data path: ", done.stdout, re.M) and done.returncode == 1
    assert f"\n{name}: 10 passed, 0 failed, 6 not tried\n" in done.stdout, done.stdout


def test_ps_and_gc(member, xrc_compat):
    creator = member()
    other = member([], creator.number)
    assert registrations(xrc_compat) == [(creator.number, "live", "kernel", "RESET")] * 2
    for one in (creator, other):
        one.kill()
    assert "live" not in [state for _, state, *_ in registrations(xrc_compat)]
    done = run([xrc_compat, "gc"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert registrations(xrc_compat) == [] and targets() == set()
