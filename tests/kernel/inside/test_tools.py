# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The xrc-compat command over the real driver."""

import json
import os

import pytest

from driver import DEVICES, run, targets


def test_doctor_finds_nothing_wrong(xrc_compat):
    own = [
        word for variable in os.environ if variable.startswith(("XRC_COMPAT_", "SOFTHCA_"))
        for word in ("-u", variable)
    ]
    done = run(["env", *own, xrc_compat, "doctor"])
    assert done.returncode == 0, done.stdout
    assert "2 of 2 can carry XRC" in done.stdout


def test_check_finds_the_program_ready(xrc_compat, build_root):
    done = run([xrc_compat, "check", "--json", build_root / "demo" / "xrc-cluster"])
    assert done.returncode == 0, done.stdout + done.stderr
    check = json.loads(done.stdout)
    assert check["verdict"] == "ready"
    assert [(device["name"], device["xrc"]) for device in check["devices"]] == [
        (name, True) for name in DEVICES]


@pytest.mark.parametrize("name", DEVICES)
def test_selftest_passes(xrc_compat, name):
    """The whole self-test. Linux delivers no events to opened handles."""
    done = run([xrc_compat, "selftest", "--device", name])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout and "not tried " not in done.stdout, done.stdout + done.stderr
    count = "15 passed, 0 failed, 0 not tried, 1 limited by the kernel"
    assert f"\n{name}: {count}\n" in done.stdout, done.stdout


def registrations(xrc_compat):
    rows = json.loads(run([xrc_compat, "ps", "--json"]).stdout)["registrations"]
    return [(row["qp"], row["pid"], row["creator"]) for row in rows]


def test_ps_shows_the_registrations_of_living_processes(xrc_compat, worker):
    creator, other = worker(), worker()
    number = creator.create()
    assert other.ask("reg", number) == 0
    rows = registrations(xrc_compat)
    assert [row[0] for row in rows] == [number] * 2 and {row[2] for row in rows} < {
        row[1] for row in rows}
    creator.kill()
    [(kept, _, gone)] = registrations(xrc_compat)
    assert (kept, gone) == (number, None) and targets() == {number}
    other.kill()
    assert registrations(xrc_compat) == [] and targets() == set()
