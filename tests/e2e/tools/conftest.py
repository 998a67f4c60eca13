# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What tests of `xrc-compat ps` and `gc` need: a program that holds registrations, a place for its tables, the command."""

import os
import pathlib
import shutil
import tempfile

import pytest

from holder import QPS, Holder


@pytest.fixture
def tables():
    """A directory for registration tables, on a file system that can have them."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="ps-test-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def settings():
    """Of the emulated HCA, beside the number of devices."""
    return []


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
