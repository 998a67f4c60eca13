# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Where the programs of this folder are, and a program's own copy of libibverbs."""

import shutil

import pytest


@pytest.fixture(scope="session")
def door(build_root):
    return build_root / "tests" / "e2e" / "door"


@pytest.fixture
def private_copy(tmp_path, real_library):
    """The libibverbs that linked-rpath prefers when it lies in tmp_path."""
    (tmp_path / "private").mkdir()
    return shutil.copyfile(real_library, tmp_path / "private" / "libibverbs.so.1")
