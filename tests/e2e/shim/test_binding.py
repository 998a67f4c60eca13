# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Old programs find the old symbols, bound lazily, bound at start, and in a plugin; without the
shim they do not."""

import os
import subprocess

import pytest

pytestmark = pytest.mark.any_model

LIVED = ["life: device open", "life: SRQ number read", "life: lived"]
MISSING = "undefined symbol: ibv_{}, version IBVERBS_1.1"

PROGRAMS = {
    "lazy": ["life-lazy"],
    "now": ["life-now"],
    "plugin-lazy": ["plugin-host", "lazy", "liblife-plugin.so"],
    "plugin-now": ["plugin-host", "now", "liblife-plugin.so"],
}


@pytest.fixture(params=PROGRAMS)
def program(request, build_root):
    """The command; words that name files of the build tree are paths."""
    folder = build_root / "tests" / "e2e" / "shim"
    return [folder / word if (folder / word).exists() else word for word in PROGRAMS[request.param]]


def test_lives_with_the_shim(run, xrc_compat, program):
    result = run([xrc_compat, "run", "--softhca=1", "--", *program])
    assert (result.returncode, result.stdout.splitlines()) == (0, LIVED), result.stderr


def test_lives_when_everything_binds_at_once(run, xrc_compat, program):
    result = run([xrc_compat, "run", "--softhca=1", "--", *program], env={"LD_BIND_NOW": "1"})
    assert (result.returncode, result.stdout.splitlines()) == (0, LIVED), result.stderr


def test_dies_without_the_shim(run, softhca, program):
    result = run([softhca, "run", "--devices=1", "--", *program])
    assert result.returncode != 0
    assert "life: lived" not in result.stdout
    output = result.stdout + result.stderr
    # Which symbol the loader names depends on their order in the file, when it binds all at once.
    assert any(
        MISSING.format(name) in output
        for name in ("open_xrc_domain", "close_xrc_domain", "create_xrc_srq"))


def test_lazy_program_gets_as_far_as_the_first_xrc_verb(run, softhca, build_root):
    result = run(
        [softhca, "run", "--devices=1", "--", build_root / "tests" / "e2e" / "shim" / "life-lazy"])
    assert result.stdout.splitlines() == LIVED[:1]
    assert MISSING.format("open_xrc_domain") in result.stderr


def test_a_library_whose_references_have_no_version(run, xrc_compat, build_root):
    result = run([
        xrc_compat, "run", "--softhca=1", "--",
        build_root / "tests" / "e2e" / "shim" / "unversioned-main"
    ])
    assert (result.returncode, result.stdout) == (0, "unversioned: done\n"), result.stderr


def test_first_verb_while_a_plugin_is_constructed(run, xrc_compat, build_root, sanitizer_env):
    """One thread calls a verb under the loader's lock, while another is in the first call of all
    and needs that lock."""
    folder = build_root / "tests" / "e2e" / "shim"
    command = [folder / "plugin-host", "now", folder / "libconstructor-plugin.so"]
    result = run([xrc_compat, "run", "--softhca=1", "--", *command], env=sanitizer_env)
    assert (result.returncode, result.stdout) == (0, "constructed\n"), result.stderr


@pytest.mark.parametrize("binary", ["life-lazy", "life-now", "liblife-plugin.so", "contract"])
def test_is_a_real_old_binary(build_root, binary):
    """It needs the old symbols from libibverbs.so.1 and nothing of ours, and no run path leads to
    the stub."""
    path = build_root / "tests" / "e2e" / "shim" / binary
    env = dict(os.environ, LC_ALL="C")
    dynamic = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True,
                             env=env).stdout
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", path], capture_output=True, text=True,
                             check=True, env=env).stdout
    assert "[libibverbs.so.1]" in dynamic
    assert "xrc-compat" not in dynamic and "abi/link" not in dynamic
    assert "ibv_open_xrc_domain@IBVERBS_1.1" in symbols
    assert ("BIND_NOW" in dynamic) == (binary == "life-now")
