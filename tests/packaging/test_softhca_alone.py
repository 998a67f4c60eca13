# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""softhca is a project of its own: a copy with no file of this one beside it is configured, built,
tested and installed."""

import os
import re
import shutil

import pytest

import models
import tree

# One of each directory of its tests. The subproject's own tests are those of this build.
TESTS = ["softhca commands", "softhca manual", "softhca counters", "softhca kill", "rdmacm library"]


@pytest.fixture(scope="module")
def alone(build_root, source_root, tmp_path_factory):
    """(meson's command, the directory of a copy). The copy has another name."""
    copy = tmp_path_factory.mktemp("elsewhere") / "softhca-copy"
    shutil.copytree(source_root / "subprojects" / "softhca", copy,
                    ignore=shutil.ignore_patterns("__pycache__"))
    return tree.meson_command(build_root), copy


@pytest.fixture
def elsewhere(monkeypatch):
    """Nothing of this build is in the environment."""
    for name in [*os.environ]:
        if name.startswith(("SOFTHCA_TEST_", "XRC_COMPAT_")) or name == "LD_LIBRARY_PATH":
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("elsewhere")
def test_a_copy_is_built_tested_and_installed(run, alone, tmp_path):
    meson, copy = alone
    build, root = tmp_path / "build", tmp_path / "root"

    def succeed(*words, **env):
        done = run([*meson, *words], timeout=500, env={"SOFTHCA_TEST_KILLS": "4", **env})
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr
        return done.stdout

    succeed("setup", build, copy, "--prefix=/opt/softhca", "-Dtests=enabled", "-Doptimization=0")
    succeed("compile", "-C", build)
    said = succeed("test", "-C", build, "--no-rebuild", *TESTS)
    assert re.search(rf"^Ok: +{len(TESTS)}\b", said, re.M), said
    succeed("install", "-C", build, "--no-rebuild", DESTDIR=str(root))
    shutil.rmtree(build)
    done = run([root / "opt/softhca/bin/softhca", "run", "--devices=1", "--", "ibv_devices"])
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{models.DRIVERS['connectx3']}_0" in done.stdout


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("option, place", [
    ("prefix", "."), ("prefix", "build/root"), ("bindir", "bin"), ("datadir", "..")
])
def test_an_installation_into_its_sources_is_refused(run, alone, tmp_path, option, place):
    """A datadir that has the sources in doc/softhca is refused, too."""
    meson, copy = alone
    if place == "..":
        (copy.parent / "doc").mkdir()
        (copy.parent / "doc" / "softhca").symlink_to(copy)
    folder = os.path.normpath(copy / place)
    done = run([*meson, "setup", tmp_path / "build", copy, "--prefix=/opt/softhca",
                f"--{option}={folder}"], timeout=100)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0
    # Meson before 0.58 itself refuses a directory outside the prefix.
    assert (f"ERROR: Problem encountered: {option}: an installation in {folder} would" in said or
            f"ERROR: The value of the '{option}' option is '{folder}' which must be" in said), said
