# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Fixtures and options of every pytest here: the build tree, the models of adapter, and what cannot
run in some builds."""

import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

import pytest

if sys.version_info < (3, 9):
    raise pytest.UsageError(
        f"the tests need Python 3.9 or later, and {sys.executable} is {sys.version.split()[0]}: put the pytest of a "
        "later one on PATH as pytest-3, and build anew")

import models
import running
from emulator import Daemon


# {(sanitizer, or "" for any; part of the test's name): why it cannot run there}
NOT_UNDER_SANITIZERS = {
    ("thread", "test_the_backtrace_goes_from"): "the sanitizer's runtime is in the backtraces",
    ("thread", "test_functions_that_were_looked_up"): "the sanitizer's runtime is in the backtraces",
    ("thread", "test_the_calls_of_all_ranks"): "Open MPI's own threads race",
    ("thread", "test_alone_serves_a_plugin"): "the host starts without the sanitizer's runtime",
    ("thread", "xsrq_rdmacm.c"): "librdmacm's thread starts without the sanitizer's runtime",
    ("thread", "test_a_daemon_that_does_not_start_is_reported"): "the sanitizer's runtime writes a file",
    ("thread", "ends_after_its_last_thread"): "the sanitizer's own thread keeps every program alive",
    ("thread", "test_opened.py"): "a program without the sanitizer crashes below its runtime and softhca",
    ("", "test_a_missing_proc"): "the sanitizer's runtime needs /proc",
}


# {part of the test's name: why it cannot run on another build of rdma-core}
NOT_ON_ANOTHER_RDMA_CORE = {
    "test_libraries_are_those_that_the_loader_takes": "ldd follows the environment, which check does not",
    "test_perftest": "perftest asks for the private symbols of the release that it was built with",
    "test_settings_of_libmlx5": "perftest asks for the private symbols of the release that it was built with",
}


def pytest_collection_modifyitems(items):
    sanitizer = os.environ.get("XRC_COMPAT_TEST_SANITIZE")
    for item in items:
        for name, reason in NOT_ON_ANOTHER_RDMA_CORE.items():
            if os.environ.get("XRC_COMPAT_TEST_RDMA_CORE") and name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))
        for (which, name), reason in NOT_UNDER_SANITIZERS.items():
            if sanitizer and which in sanitizer and name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "on_model(name...): runs on these models of adapter; the test says why")
    config.addinivalue_line(
        "markers", "any_model: the model makes no difference, so the test runs on one of them")


def models_of(definition):
    """The models that a test runs on. A hash of the test's name selects the model of an any_model
    test, so the selection of tests does not change it."""
    only = definition.get_closest_marker("on_model")
    any_model = definition.get_closest_marker("any_model")
    if only:
        return [name for name in models.chosen() if name in only.args]
    if any_model:
        return [models.chosen()[zlib.crc32(definition.name.encode()) % len(models.chosen())]]
    return models.chosen()


def pytest_generate_tests(metafunc):
    """A test that uses the fixture `model` runs once for each model, unless a mark says
    otherwise."""
    if "model" in metafunc.fixturenames:
        none = pytest.param("none", marks=pytest.mark.skip(reason="SOFTHCA_TEST_MODELS has none of its models"))
        metafunc.parametrize("model", models_of(metafunc.definition) or [none], indirect=True)


@pytest.fixture
def model(request, monkeypatch):
    """The model of the emulated adapters, which softhca and models.py read from the environment."""
    monkeypatch.setenv("SOFTHCA_MODEL", request.param)
    return request.param


@pytest.fixture(scope="session")
def build_root():
    """The meson build directory under test."""
    return pathlib.Path(os.environ["XRC_COMPAT_BUILD_ROOT"])


@pytest.fixture(scope="session")
def source_root():
    return pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"])


@pytest.fixture
def softhca(model):
    """The softhca command. It depends on `model`, so that the test runs on every model."""
    return pathlib.Path(os.environ["SOFTHCA_TEST_BIN"]) / "softhca"


@pytest.fixture
def settings():
    """Further options of softhca for the fixtures that start it; a test can parametrize it."""
    return []


@pytest.fixture
def daemon(run, softhca, settings, monkeypatch):
    """Emulated adapters that outlive the programs on them."""
    # The path of a socket must be short, which those of tmp_path are not.
    with tempfile.TemporaryDirectory(prefix="softhca-test-", dir="/tmp") as folder:
        started = Daemon(run, softhca, pathlib.Path(folder))
        monkeypatch.setenv("SOFTHCA_DIR", str(started.directory))
        done = run([softhca, "start", *settings])
        assert done.returncode == 0, done.stderr
        monkeypatch.setenv("LD_PRELOAD", str(started.preload))
        yield started
        # The daemon must end even if the preloaded library is broken.
        monkeypatch.delenv("LD_PRELOAD")
        run([softhca, "stop"])


@pytest.fixture
def tables():
    """A directory for registration tables, on a file system that can have them."""
    with tempfile.TemporaryDirectory(
            prefix="tables-test-",
            dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield pathlib.Path(folder)


@pytest.fixture(scope="session")
def xrc_compat(build_root):
    return build_root / "tools" / "xrc-compat"


@pytest.fixture(scope="session")
def shim(build_root):
    return build_root / "shim" / "libxrc-compat.so.1"


def system_library(name, shim):
    """The path that ldconfig -p lists for a library of the shim's ELF class (32 or 64 bits), or
    None."""
    wide = shim.read_bytes()[4] == 2
    listing = subprocess.check_output(["/sbin/ldconfig", "-p"], timeout=30).decode()
    for line in listing.splitlines():
        if line.split()[:1] == [name] and ("x86-64" in line) == wide:
            return line.split()[-1]
    return None


@pytest.fixture
def systems_class(shim):
    """Programs of the system's class. A shim of the other class cannot be preloaded into them; the
    suite "both classes" tests those."""
    if shim.read_bytes()[4] != pathlib.Path("/bin/sh").read_bytes()[4]:
        pytest.skip("the shell is of the other ELF class")


@pytest.fixture(scope="session")
def real_library(shim):
    library = system_library("libibverbs.so.1", shim)
    assert library, "ldconfig -p lists no libibverbs.so.1"
    return library


@pytest.fixture(scope="session")
def todays_libibumad(shim):
    """For programs linked with an old libibumad: calls are passed to this one."""
    library = system_library("libibumad.so.3", shim)
    if not library:
        pytest.skip("no libibumad.so.3 here")
    return library


@pytest.fixture(scope="session")
def sanitizer_runtime():
    """The library that a program without sanitizer needs in LD_PRELOAD if the shim has one, else
    ""."""
    return os.environ.get("XRC_COMPAT_TEST_PRELOAD", "")


@pytest.fixture(scope="session")
def sanitizer_env(sanitizer_runtime):
    """The environment by which a program without sanitizer loads a shim that has one."""
    return {"LD_PRELOAD": sanitizer_runtime} if sanitizer_runtime else {}


@pytest.fixture
def below_shim(run, softhca, xrc_compat, sanitizer_env):
    """below_shim(command..., devices=2, settings=[], through=[], options=[], timeout=150,
    **environment): its result by `xrc-compat run OPTIONS` on so many new devices.

    settings: of softhca; through: a command that starts xrc-compat."""

    def _below_shim(*command, devices=2, settings=(), through=(), options=(), timeout=150,
                    **environment):
        return run([softhca, "run", f"--devices={devices}", *settings, "--", *through, xrc_compat,
                    "run", *options, "--", *command], timeout=timeout,
                   env={**sanitizer_env, **environment})

    return _below_shim


@pytest.fixture
def own_crashes(monkeypatch):
    """For programs that crash on purpose: they end by the signal even where a sanitizer would
    report it and exit."""
    for variable in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
        options = [os.environ.get(variable, ""), "handle_segv=0", "allow_user_segv_handler=1"]
        monkeypatch.setenv(variable, ":".join(filter(None, options)))


@pytest.fixture(scope="session")
def run():
    """run(argv, timeout=30, **kw): see running.py."""
    return running.run
