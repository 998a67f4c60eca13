# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Kills legacy programs at random. Their reports agree with the registration table, and a process
reports each receive QP of the adapter."""

import os
import pathlib

from driver import run, targets

KILLS = int(os.environ.get("STORM_KILLS", "500"))
HERE = pathlib.Path(__file__).resolve().parent


def test_registrations_agree_after_random_kills(build_root, xrc_compat, tmp_path):
    done = run([
        xrc_compat, "run", "--", "/usr/bin/python3", HERE / "storm_on_driver.py",
        build_root / "tests" / "chaos" / "storm", "-", xrc_compat, tmp_path, "8", KILLS, "20080204"
    ], timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all agreed" in done.stdout
    assert targets() == set()
