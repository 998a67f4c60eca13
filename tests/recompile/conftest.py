# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""An installed copy of the build, for all tests of recompiled programs."""

import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "packaging"), str(TESTS / "abi")]
import tree  # noqa: E402

# meson puts every library of the build tree on it, so that a wrong run path would not be noticed.
os.environ.pop("LD_LIBRARY_PATH", None)


@pytest.fixture(scope="session")
def installed(build_root, tmp_path_factory):
    return tree.Tree(build_root, tmp_path_factory.mktemp("installed")).install()
