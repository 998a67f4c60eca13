# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Old programs killed at random, 500 times; what they say, what the registration table says, and what the devices have agree."""

import os

from lab import devices, objects, run

KILLS = int(os.environ.get("STORM_KILLS", "500"))


def test_storm(provider, build_root, xrc_compat, tmp_path):
    here = os.path.dirname(os.path.abspath(__file__))
    with devices(provider, devices=1):
        done = run([xrc_compat, "run", "--", "/usr/bin/python3", f"{here}/storm_on_lab.py", build_root / "tests" / "chaos" / "storm",
                    "-", xrc_compat, tmp_path, "8", KILLS // 2, "20080204"], timeout=1200)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "all agreed" in done.stdout
        assert objects() == []
