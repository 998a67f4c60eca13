# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The calls work however a program gets the verbs: linked, looked up, in a plugin, or with its
own libibverbs; and by the command that `xrc-compat check` prints."""

import errno
import json
import os
import re
import shutil

import pytest

import models

pytestmark = pytest.mark.any_model

WAYS = ["dlsym", "dlvsym", "lazy", "global", "noload", "path", "path-dlvsym"]


@pytest.fixture
def type_in(run, softhca, build_root, tmp_path):
    """type_in(line): runs it in a shell that has xrc-compat on its PATH, on a machine with two
    devices."""
    env = {"PATH": f"{build_root / 'tools'}:{os.environ['PATH']}"}
    return lambda line: run([softhca, "run", "--devices=2", "--", "sh", "-c", line], env=env, cwd=
                            tmp_path)


@pytest.fixture
def private_copy(tmp_path, real_library):
    """A copy of libibverbs, which the program linked-rpath of tmp_path loads."""
    (tmp_path / "private").mkdir()
    return shutil.copyfile(real_library, tmp_path / "private" / "libibverbs.so.1")


@pytest.mark.parametrize("at_start", ["", "1"])
@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_a_linked_program_makes_the_calls(below_shim, completed, door, binding, at_start):
    completed(below_shim(door / f"linked-{binding}", LD_BIND_NOW=at_start))


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_looks_the_verbs_up_makes_the_calls(below_shim, completed, door,
                                                           real_library, way):
    completed(below_shim(door / "lookup", way, DOOR_LIBRARY=real_library))


@pytest.mark.parametrize("at_start", ["", "1"])
@pytest.mark.parametrize("binding", ["lazy", "now"])
@pytest.mark.parametrize("plugin", ["linked", "lookup"])
def test_a_plugin_makes_the_calls(below_shim, completed, door, plugin, binding, at_start):
    completed(below_shim(door / "plugin-host", binding, door / f"lib{plugin}-plugin.so", LD_BIND_NOW=at_start))


def test_the_first_verb_does_not_deadlock_with_a_constructor(below_shim, door):
    """One thread calls a verb under the loader's lock, while another is in the first verb of the
    process and needs that lock."""
    result = below_shim(door / "plugin-host", "now", door / "libconstructor-plugin.so")
    assert (result.returncode, result.stdout) == (0, f"{errno.EINVAL} {errno.EINVAL}\n"), result.stderr


def test_a_libibverbs_without_verbs_is_reported_once(run, shim, door, tmp_path, sanitizer_runtime):
    """Two threads call a verb. It fails in both, as on a system without libibverbs. The eight verbs
    that would be passed on to libibverbs fail, too."""
    shutil.copy(door / "libearly.so", tmp_path / "libibverbs.so.1")
    result = run([door / "plugin-host", "now", door / "libconstructor-plugin.so"],
                 env={"LD_PRELOAD": f"{sanitizer_runtime} {shim}",
                      "LD_LIBRARY_PATH": str(tmp_path), "XRC_COMPAT_VERBOSE": "1"})
    assert (result.returncode, result.stdout) == (
        0, f"{errno.ENOSYS} {errno.ENOSYS}\n8 refused\n"), result.stderr
    assert re.findall(r"^xrc-compat\[\d+\]: (.*)$", result.stderr, re.M) == [
        "no usable libibverbs.so.1: ibv_create_qp not found; install the distribution's libibverbs"]


OF_THE_SYSTEM = pytest.param("real_library", marks=pytest.mark.skipif(
    "SOFTHCA_TEST_RDMA_CORE" in os.environ,
    reason="is about the libibverbs that the loader takes by itself"))


@pytest.mark.parametrize("library", ["private_copy", OF_THE_SYSTEM])
def test_a_program_uses_its_private_libibverbs_or_else_the_systems(request, below_shim, completed,
                                                                   door, tmp_path, library):
    path = request.getfixturevalue(library)
    result = below_shim(shutil.copy(door / "linked-rpath", tmp_path), LD_DEBUG="files")
    completed(result)
    loaded = re.findall(r"calling init: (\S*/libibverbs\.so\S*)", result.stderr)
    assert {os.path.realpath(name) for name in loaded} == {os.path.realpath(path)}


@pytest.mark.parametrize("name", ["lookup", "linked-lazy", "linked-now", "linked-rpath"])
def test_the_next_command_of_json_and_text_runs_the_program(request, type_in, completed, tmp_path,
                                                            door, name):
    """The first steps of a new user. Without xrc-compat the program fails."""
    if name == "linked-rpath":
        request.getfixturevalue("private_copy")
    shutil.copy(door / name, tmp_path)
    result = type_in(f"xrc-compat check --json ./{name}")
    report = json.loads(result.stdout)
    assert (result.returncode, result.stderr) == (report["exit_status"], ""), result.stderr
    assert [device["name"] for device in report["devices"]] == [models.device(0), models.device(1)]
    completed(type_in(report["next"]))
    lines = type_in(f"xrc-compat check ./{name}").stdout.splitlines()
    assert [line.split(None, 1)[1] for line in lines if line.startswith("Next")] == [report["next"]]
    result = type_in(f"./{name}")
    assert result.returncode != 0
    assert "undefined symbol: ibv_" in result.stdout + result.stderr
