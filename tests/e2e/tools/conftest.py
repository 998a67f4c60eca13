# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What tests of `xrc-compat ps` and `gc` need: a program that holds registrations, and the command."""

import os

import pytest

from holder import QPS, Holder


@pytest.fixture
def words():
    """Of hold-registrations, after the number of QPs."""
    return []


@pytest.fixture
def holder(tables, softhca, xrc_compat, build_root, tmp_path, settings, words, sanitizer_runtime):
    domain = tmp_path / "domain"
    program = build_root / "tests" / "e2e" / "tools" / "hold-registrations"
    held = Holder([softhca, "run", "--devices=1", *settings, "--", xrc_compat, "run", "--", program, domain, QPS, *words],
                  dict(os.environ, XRC_COMPAT_TABLE_DIR=str(tables), LD_PRELOAD=sanitizer_runtime), domain)
    yield held
    held.end()


@pytest.fixture
def tool(run, xrc_compat, tables):
    def _tool(*arguments, status=0, **environment):
        result = run([xrc_compat, *arguments], env={"XRC_COMPAT_TABLE_DIR": str(tables), **environment})
        assert result.returncode == status, result
        return result

    return _tool
