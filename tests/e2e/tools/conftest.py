# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The helpers of this directory, a program that holds registrations for `ps`, the command in
several environments, and for `trace` the programs to be traced."""

import json
import os
import pathlib
import re
import resource
import types

import pytest

from holder import QPS, Holder


@pytest.fixture(scope="session")
def helpers(build_root):
    return build_root / "tests" / "e2e" / "tools"


@pytest.fixture
def probe(helpers):
    """Stands in for the shim where a test only looks at what is preloaded."""
    return helpers / "libprobe.so"


@pytest.fixture
def fakes(helpers, probe):
    """In this environment a command sees the devices of fake_libibverbs.c, none of this machine's
    kernel, and takes the probe for the shim."""
    return {"LD_PRELOAD": str(helpers / "libfake-ibverbs.so"), "SYSFS_PATH": "/nonexistent",
            "XRC_COMPAT_LIBRARY": str(probe)}


@pytest.fixture
def words():
    """Further arguments of hold-registrations, which a test can parametrize."""
    return []


@pytest.fixture
def holder(softhca, xrc_compat, helpers, tmp_path, settings, words, sanitizer_runtime):
    domain = tmp_path / "domain"
    held = Holder([
        softhca, "run", "--devices=1", *settings, "--", xrc_compat, "run", "--",
        helpers / "hold-registrations", domain, QPS, *words
    ], dict(os.environ, LD_PRELOAD=sanitizer_runtime), domain)
    yield held
    held.end()


@pytest.fixture
def tool(run, xrc_compat):
    """tool(arguments..., status=0, **environment): the command, which must exit with this status.
    `ps` may exit with 1 instead of 0: it sees the tables that other tests forge."""

    def _tool(*arguments, status=0, **environment):
        result = run([xrc_compat, *arguments], env=environment)
        tolerated = [status, 1] if arguments[0] == "ps" and status == 0 else [status]
        assert result.returncode in tolerated, result
        return result

    return _tool


@pytest.fixture
def own_mounts(run):
    """In a plain chroot root has none, because unshare needs / to be a mount point."""
    if os.geteuid() != 0 or run(["unshare", "-m", "true"]).returncode:
        pytest.skip("needs root and mounts of its own")


@pytest.fixture
def clean(run, fakes, xrc_compat):
    """clean(*arguments, before=(), **environment): the command in a clean environment on a machine
    with one good device. before: a command that starts it."""

    def _clean(*arguments, before=(), **environment):
        sanitizers = {
            name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")
        }
        values = {
            **sanitizers, **fakes, "PATH": os.environ["PATH"], "FAKE_DEVICES": "mlx4_0",
            **environment
        }
        words = [f"{name}={value}" for name, value in values.items()]
        return run([*before, "/usr/bin/env", "-i", *words, xrc_compat, *arguments])

    return _clean


@pytest.fixture
def programs(build_root, helpers):
    return {"cluster": build_root / "demo" / "xrc-cluster",
            "contract": build_root / "tests" / "e2e" / "shim" / "contract",
            "end device": helpers / "end-device",
            "selftest": build_root / "tools" / "selftest" / "xrc-compat-selftest",
            "hold": helpers / "hold-registrations",
            "lookup": build_root / "tests" / "e2e" / "door" / "lookup",
            "qperf": build_root / "tests" / "legacy" / "clients" / "qperf",
            "data path": build_root / "subprojects" / "softhca" / "tests" / "e2e" / "softhca-data-path",
            "show": helpers / "show-start"}


@pytest.fixture
def trace(run, xrc_compat, tmp_path, in_memory, sanitizer_env):
    """trace(program...): (result, the JSON document)."""

    def _trace(*program, options=("--softhca=2",)):
        output = tmp_path / "trace.json"
        output.unlink(missing_ok=True)
        result = run([xrc_compat, "trace", *options, "--json", "--output", output, "--", *program],
                     timeout=60, env={**sanitizer_env, "TMPDIR": str(in_memory)})
        return result, json.loads(output.read_text())

    return _trace


@pytest.fixture
def traced(run, xrc_compat):
    """traced(words..., **environment): the result of `xrc-compat trace WORDS`."""
    return lambda *words, cwd=None, **environment: run([xrc_compat, "trace", *words], timeout=90,
                                                       env=environment, cwd=cwd)


@pytest.fixture
def by_libdw(run, xrc_compat):
    """Skips the test in a build that reads no stacks of other processes."""
    if "without libdw" in run([xrc_compat, "ps", "--stacks", os.getpid()]).stderr:
        pytest.skip("a build without libdw")


@pytest.fixture
def by_libunwind(traced):
    """Skips the test in a build without libunwind, or where the library is missing."""
    if "In 64-bit programs libunwind walks" not in traced("--help").stdout:
        pytest.skip("without libunwind")


@pytest.fixture
def cores(own_crashes, tmp_path):
    """cores.options: with these Popen() starts a program that leaves a core file when it crashes.
    cores.only(): that file, which has the name that the kernel gives it."""
    if not re.match(r"[^|/]+$", pathlib.Path("/proc/sys/kernel/core_pattern").read_text()):
        pytest.skip("this kernel leaves no core files in a program's directory")
    folder = tmp_path / "cores"
    folder.mkdir()

    def only():
        [core] = folder.iterdir()
        return core

    return types.SimpleNamespace(only=only, options={
        "cwd": folder, "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CORE,
                                                                (resource.RLIM_INFINITY, ) * 2)})
