# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The xrc-compat command on a real kernel."""

import json
import os
import re

from lab import run
from test_processes import member, targets  # noqa: F401


def test_doctor_finds_nothing_wrong(hca, xrc_compat):
    own = [word for name in os.environ if name.startswith(("XRC_COMPAT_", "SOFTHCA_")) for word in ("-u", name)]
    done = run(["env", *own, xrc_compat, "doctor"])
    assert done.returncode == 0, done.stdout
    assert "2 of 2 can carry XRC" in done.stdout


def test_check(hca, xrc_compat, build_root):
    done = run([xrc_compat, "check", build_root / "tests" / "kernel" / "member"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_selftest_goes_as_far_as_control_does(hca, xrc_compat):
    done = run([xrc_compat, "selftest"], timeout=300)
    assert "FAILED" not in done.stdout and "not tried " not in done.stdout, done.stdout + done.stderr
    assert re.search(r"^no data path: ", done.stdout, re.M) and done.returncode == 1
    assert f"\n{hca}_0: 10 passed, 0 failed, 6 not tried\n" in done.stdout, done.stdout


def rows(xrc_compat):
    return json.loads(run([xrc_compat, "ps", "--json"]).stdout)["registrations"]


def test_ps_and_gc(member, xrc_compat):  # noqa: F811
    creator = member()
    other = member([], creator.number)
    assert [(row["qp"], row["state"]) for row in rows(xrc_compat)] == [(creator.number, "live")] * 2
    for one in (creator, other):
        one.kill()
    assert not [row for row in rows(xrc_compat) if row["state"] == "live"]
    done = run([xrc_compat, "gc"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(xrc_compat) == [] and targets() == set()
