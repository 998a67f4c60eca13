# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The shim beside librdmacm in one process: old XRC QPs that it makes and connects, SRQs of either on the other's side."""

import re

import pytest

# How many rows each group has, so that none is lost without anyone noticing.
ROWS = {"qp": 5, "srq": 4}


@pytest.fixture
def program(run, softhca, xrc_compat, build_root, sanitizer_runtime):
    def _program(group, *settings):
        path = build_root / "tests" / "e2e" / "rdmacm_legacy" / "rdmacm-legacy"
        return run([softhca, "run", "--devices=2", *settings, "--", xrc_compat, "run", "--", path, group], timeout=150,
                   env={"LD_PRELOAD": sanitizer_runtime} if sanitizer_runtime else None)

    return _program


@pytest.mark.parametrize("settings", ["", "--open_qp=off", "--strict=on"])
@pytest.mark.parametrize("group", ROWS)
def test_rows(program, group, settings):
    done = program(group, *settings.split())
    rows = done.stdout.splitlines()
    assert [row for row in rows if not re.match(r"ok .* \[" + group + r"\]$", row)] == [], done.stderr
    assert (done.returncode, len(rows)) == (0, ROWS[group]), done.stderr
