# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The whole exchange by every way in: linked, looked up, through a plugin, with a private libibverbs, and mixed."""

import os
import shutil

import pytest

from played import done

WAYS = ["dlsym", "dlvsym", "lazy", "local", "global", "noload", "path", "path-dlvsym"]


@pytest.fixture
def play(model, run, xrc_compat):
    return lambda *program, **env: run([xrc_compat, "run", "--softhca=1", "--", *program], env=env)


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_linked(play, door, binding):
    done(play(door / f"linked-{binding}"))


@pytest.mark.parametrize("way", WAYS)
def test_looked_up(play, door, real_library, way):
    done(play(door / "lookup", way, DOOR_LIBRARY=real_library))


@pytest.mark.parametrize("way", WAYS)
def test_not_found_without_the_shim(run, softhca, door, real_library, way):
    result = run([softhca, "run", "--devices=1", "--", door / "lookup", way], env={"DOOR_LIBRARY": real_library})
    assert result.returncode == 1
    assert "undefined symbol: ibv_open_xrc_domain" in result.stdout


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_looked_up_in_a_plugin(play, door, build_root, binding):
    host = build_root / "tests" / "e2e" / "shim" / "plugin-host"
    done(play(host, binding, door / "liblookup-plugin.so"))


def test_linked_and_looked_up_are_one(play, door):
    """One state: what one library opens, keeps busy and registers, the other knows."""
    result = play(door / "both")
    assert (result.returncode, result.stdout.splitlines()) == (
        0, ["both: busy Device or resource busy"] * 2 + ["exchange: done"] * 2), result.stderr


def test_private_copy(play, door, real_library, tmp_path):
    """A program that brings its own libibverbs goes on using that one."""
    (tmp_path / "private").mkdir()
    private = tmp_path / "private" / "libibverbs.so.1"
    shutil.copyfile(real_library, private)
    result = play(shutil.copy(door / "linked-rpath", tmp_path))
    done(result)
    assert result.stdout.splitlines()[1:] == [f"mapped: {private}"]


def test_without_a_private_copy(play, door, real_library, tmp_path):
    """What the test above is worth."""
    result = play(shutil.copy(door / "linked-rpath", tmp_path))
    done(result)
    assert result.stdout.splitlines()[1:] == [f"mapped: {os.path.realpath(real_library)}"]
