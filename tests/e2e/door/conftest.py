# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The folder of these programs, and a program's own copy of libibverbs."""

import shutil

import pytest


@pytest.fixture(scope="session")
def door(build_root):
    return build_root / "tests" / "e2e" / "door"


@pytest.fixture
def private_copy(tmp_path, real_library):
    """A copy of libibverbs in tmp_path, which the program linked-rpath loads."""
    (tmp_path / "private").mkdir()
    return shutil.copyfile(real_library, tmp_path / "private" / "libibverbs.so.1")
