# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Completion channels in old programs that use XRC SRQs, row by row."""

import pytest

# How many rows each group has, so that a lost row is noticed.
ROWS = {"destroy": 6, "wake": 10, "ack": 4, "fork": 6}


@pytest.fixture
def channel(run, softhca, xrc_compat, build_root, sanitizer_env):
    def _channel(group, owner, shim=True):
        program = build_root / "tests" / "e2e" / "channel" / "channel"
        through = [xrc_compat, "run", "--"] if shim else []
        return run([softhca, "run", "--devices=2", "--", *through, program, owner, group],
                   timeout=150, env=sanitizer_env)

    return _channel


@pytest.mark.parametrize("owner", ["own", "joined"])
@pytest.mark.parametrize("group", ROWS)
def test_rows(channel, group, owner):
    done = channel(group, owner)
    rows = done.stdout.splitlines()
    assert [row for row in rows if not row.startswith("ok ")] == [], done.stderr
    assert (done.returncode, len(rows)) == (0, ROWS[group]), done.stderr


def test_without_the_shim_no_row_passes(channel):
    """All of them need XRC SRQs, so the rows above do test the shim."""
    done = channel("destroy", "own", shim=False)
    assert done.returncode == 1 and "ok " not in done.stdout
    assert "undefined symbol: ibv_open_xrc_domain" in done.stderr
