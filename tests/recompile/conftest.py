# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the tests of the recompile door share: an installed tree."""

import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "packaging"), str(TESTS / "abi")]
import tree  # noqa: E402

# The test runner points it at every library of the build tree: a run path that leads nowhere would not be noticed.
os.environ.pop("LD_LIBRARY_PATH", None)


@pytest.fixture(scope="session")
def installed(build_root, tmp_path_factory):
    return tree.Tree(build_root, tmp_path_factory.mktemp("installed")).install()
