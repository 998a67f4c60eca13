# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""An installed copy of the build, for all tests of recompiled programs, and the build tree itself.
"""

import os
import pathlib
import subprocess
import sys
import types

import pytest

TESTS = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "packaging"), str(TESTS / "abi")]
import tree  # noqa: E402

# meson puts every library of the build tree on it, so that a wrong run path would not be noticed.
os.environ.pop("LD_LIBRARY_PATH", None)


@pytest.fixture(scope="session")
def installed(build_root, tmp_path_factory):
    return tree.Tree(build_root, tmp_path_factory.mktemp("installed")).install()


def devenv(build_root):
    """pkg_config() of `meson devenv`, where it has the same packages with paths into the build
    tree."""
    meson = tree.meson_command(build_root)
    version = subprocess.run([*meson, "--version"], capture_output=True, text=True,
                             timeout=60).stdout
    if [int(part) for part in version.split(".")[:2]] < [0, 59]:
        pytest.skip("meson has `devenv` with packages since 0.59")
    return lambda *arguments: subprocess.run(
        [*meson, "devenv", "-C", build_root, "pkg-config", *arguments], capture_output=True,
        text=True, timeout=60, check=True).stdout.split()


@pytest.fixture(scope="session", params=["installed", "build tree"])
def packages(request, build_root):
    """What a user compiles and runs with: pkg_config(argument...), softhca, xrc_compat."""
    if request.param == "build tree":
        return types.SimpleNamespace(pkg_config=devenv(build_root),
                                     softhca=build_root / "subprojects" / "softhca" / "bin" / "softhca",
                                     xrc_compat=build_root / "tools" / "xrc-compat")
    installed = request.getfixturevalue("installed")
    return types.SimpleNamespace(pkg_config=installed.pkg_config,
                                 softhca=installed.bin / "softhca",
                                 xrc_compat=installed.bin / "xrc-compat")
