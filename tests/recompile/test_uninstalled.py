# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Inside `meson devenv` pkg-config has the same packages, with paths into the build tree. Nothing
need be installed."""

import pathlib
import subprocess

import pytest

import elf
import tree
from test_programs import build_cluster
from toolchain import build

pytestmark = pytest.mark.any_model

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def devenv(build_root):
    """devenv(*arguments): the words that pkg-config prints with the variables of that
    environment."""
    meson = tree.meson_command(build_root)
    version = subprocess.run([*meson, "--version"], capture_output=True, text=True,
                             timeout=60).stdout
    if [int(part) for part in version.split(".")[:2]] < [0, 59]:
        pytest.skip("meson has `devenv` with packages since 0.59")

    inside = subprocess.run([*meson, "devenv", "-C", build_root, "env", "-0"], capture_output=True,
                            text=True, timeout=60, check=True).stdout
    env = dict(line.split("=", 1) for line in inside.split("\0") if "=" in line)

    def _devenv(*arguments):
        done = subprocess.run(["pkg-config", *arguments], env=env, capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return _devenv


def test_recompiled_against_the_build_tree(devenv, tmp_path, xrc_compat, build_root, run):
    program = build_cluster(tmp_path, devenv("--cflags", "--libs", "xrc-compat"))
    assert "ibv_open_xrc_domain@IBVERBS_1.1" in elf.dynamic_symbols(program)[1]
    assert "libxrc-compat.so.1" not in elf.needed(program)
    done = run([xrc_compat, "run", "--softhca=2", "--", program, "-n", "2"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_alone_against_the_build_tree(devenv, tmp_path, softhca, run):
    program = build_cluster(tmp_path, devenv("--cflags", "--libs", "xrc-compat-alone"))
    done = run([softhca, "run", "--devices=2", "--", program, "-n", "2"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_ofedhome_has_headers_and_libraries(devenv):
    home = pathlib.Path(*devenv("--variable=ofedhome", "xrc-compat"))
    assert (home / "include" / "infiniband" / "verbs.h").exists()
    for lib in ("lib", "lib64"):
        assert (home / lib / "libibverbs.so").exists()
        assert not (home / lib / "libibverbs.so.1").exists()


def test_an_old_half_and_a_ported_half_against_the_build_tree(devenv, tmp_path, softhca, run):
    objects = [
        build(tmp_path / f"{half}.o", "c", "-c", HERE / f"porting_{half}.c",
              *devenv("--cflags", package))
        for half, package in (("old", "xrc-compat"), ("new", "xrc-compat-port"))
    ]
    program = build(tmp_path / "porting", "c", *objects, *devenv("--libs", "xrc-compat-port"))
    done = run([softhca, "run", "--devices=1", "--", program])
    assert (done.returncode, done.stdout) == (0, "porting: both halves agree\n"), done.stderr


def test_the_api_of_2011_against_the_build_tree(devenv, tmp_path, softhca, run):
    program = build(tmp_path / "xsrq", "c", HERE / "xsrq_program.c",
                    *devenv("--cflags", "--libs", "xrc-compat-xsrq"))
    done = run([softhca, "run", "--devices=2", "--", program], timeout=90)
    assert (done.returncode, done.stdout) == (0, "xsrq: all right\n"), done.stderr
