# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The exchange works however a program gets the verbs: linked, looked up, in a plugin, with its own
libibverbs, and mixed."""

import os
import shutil
import sys

import pytest

from completed import completed

sys.path.insert(0, os.path.join(os.environ["XRC_COMPAT_SOURCE_ROOT"], "tests", "abi"))
import elf  # noqa: E402

pytestmark = pytest.mark.any_model

WAYS = ["dlsym", "dlvsym", "lazy", "local", "global", "noload", "path", "path-dlvsym"]


@pytest.fixture
def below_shim(model, run, xrc_compat):
    return lambda *program, **env: run([xrc_compat, "run", "--softhca=1", "--", *program], env=env)


@pytest.mark.parametrize("at_start", ["", "1"])
@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_a_linked_program_completes_the_exchange(below_shim, door, binding, at_start):
    completed(below_shim(door / f"linked-{binding}", LD_BIND_NOW=at_start))


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_looks_the_verbs_up_completes_the_exchange(below_shim, door, real_library,
                                                                  way):
    completed(below_shim(door / "lookup", way, DOOR_LIBRARY=real_library))


@pytest.mark.parametrize("at_start", ["", "1"])
@pytest.mark.parametrize("binding", ["lazy", "now"])
@pytest.mark.parametrize("plugin", ["linked", "lookup"])
def test_a_plugin_completes_the_exchange(below_shim, door, build_root, plugin, binding, at_start):
    host = build_root / "tests" / "e2e" / "shim" / "plugin-host"
    completed(below_shim(host, binding, door / f"lib{plugin}-plugin.so", LD_BIND_NOW=at_start))


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_linked_plugin_fails_without_the_shim(run, softhca, door, build_root, binding):
    host = build_root / "tests" / "e2e" / "shim" / "plugin-host"
    result = run([softhca, "run", "--devices=1", "--", host, binding,
                  door / "liblinked-plugin.so"])
    assert result.returncode == 1 and "undefined symbol: ibv_" in result.stdout


def test_linked_and_looked_up_verbs_share_one_state(below_shim, door):
    """Objects and registrations of one library count in the other."""
    result = below_shim(door / "both")
    assert (result.returncode, result.stdout.splitlines()) == (
        0, ["both: busy Device or resource busy"] * 2 + ["exchange: done"] * 2), result.stderr


OF_THE_SYSTEM = pytest.param("real_library", marks=pytest.mark.skipif(
    "XRC_COMPAT_TEST_RDMA_CORE" in os.environ,
    reason="is about the libibverbs that the loader takes by itself"))


@pytest.mark.parametrize("library", ["private_copy", OF_THE_SYSTEM])
def test_a_program_uses_its_private_libibverbs_or_else_the_systems(request, below_shim, door,
                                                                   tmp_path, library):
    path = request.getfixturevalue(library)
    result = below_shim(shutil.copy(door / "linked-rpath", tmp_path))
    completed(result)
    assert result.stdout.splitlines()[1:] == [f"mapped: {os.path.realpath(path)}"]


@pytest.mark.parametrize("binary", [
    "demo/xrc-cluster", "demo/xrc-cluster-now", "tests/e2e/shim/contract",
    "tests/e2e/door/linked-lazy", "tests/e2e/door/linked-now"
])
def test_the_binary_asks_libibverbs_for_the_legacy_symbols(build_root, binary):
    """It needs no library of xrc-compat, but maybe a sanitizer's. No run path leads to the stub."""
    path = build_root / binary
    assert "ibv_open_xrc_domain@IBVERBS_1.1" in elf.dynamic_symbols(path)[1]
    older = set() if "linked" in binary else {"IBVERBS_1.0"}
    assert elf.version_needs(path)["libibverbs.so.1"] == {"IBVERBS_1.1"} | older
    libraries = {library for library in elf.needed(path) if "san" not in library}
    assert libraries <= {
        "libibverbs.so.1", "libc.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
    assert elf.run_paths(path) == []
    assert ("BIND_NOW" in elf.readelf("-d", path)) == binary.endswith("-now")
