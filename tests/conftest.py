# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What every pytest of this project needs: where the build is, and how to run a program that must not hang."""

import os
import pathlib
import tempfile

import pytest

import models
import running
from emulator import Daemon


# (sanitizer, part of the test's name): why it is not run there.
NOT_UNDER_SANITIZERS = {
    ("thread", "test_selftest.py"): "the helper's threads start without the sanitizer's runtime",
    ("thread", "test_trace.py"): "the traced program's threads start without the sanitizer's runtime",
    ("thread", "test_limits.py"): "the sanitizer's shadow of the address space is above any limit",
    ("thread", "test_ends_with_its_last_thread"): "the sanitizer's own thread keeps every program alive",
    ("thread", "test_cancellation_that_comes_late"): "strace would be run with the sanitizer's runtime, too",
    ("", "test_streams.py"): "the sanitizer's runtime has uses of its own for standard error, and for descriptors that are free",
    ("", "test_killed_programs_leave_nothing"): "start-up is longer than the time over which the kills are spread",
    ("", "test_install.py"): "installs and looks at the result",
    ("", "test_i386.py"): "makes a build of its own",
    ("", "test_configure.py"): "compiles programs that are not instrumented",
    ("", "test_programs.py"): "compiles programs that are not instrumented",
    ("", "test_xsrq.py"): "compiles programs that are not instrumented",
}


NOT_ON_ANOTHER_RDMA_CORE = {
    "test_without_a_private_copy": "is about the libibverbs that the loader takes by itself",
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
    config.addinivalue_line("markers", "on_model(name): holds on this model of adapter only; the test says why")


def pytest_generate_tests(metafunc):
    """Whatever starts softhca does so once for each model."""
    if "model" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("on_model")
        metafunc.parametrize("model", [name for name in models.chosen() if not only or name in only.args], indirect=True)


@pytest.fixture
def model(request, monkeypatch):
    """The model of the emulated adapters; softhca and the helpers in models.py take it from the environment."""
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
def softhca(model, build_root):
    """The command, and with it the model of its adapters."""
    return build_root / "softhca" / "softhca"


@pytest.fixture
def settings():
    """What emulated adapters are started with, beside what a fixture says of itself; a test may have its own."""
    return []


@pytest.fixture
def daemon(run, softhca, settings, monkeypatch):
    """Emulated adapters that outlive their programs. The folder's name is short, as those of sockets must be."""
    with tempfile.TemporaryDirectory(prefix="softhca-test-", dir="/tmp") as folder:
        started = Daemon(run, softhca, pathlib.Path(folder))
        monkeypatch.setenv("SOFTHCA_DIR", str(started.directory))
        done = run([softhca, "start", *settings])
        assert done.returncode == 0, done.stderr
        monkeypatch.setenv("LD_PRELOAD", str(started.preload))
        yield started
        # Nothing that is wrong with the preload may keep the daemon from its end.
        monkeypatch.delenv("LD_PRELOAD")
        run([softhca, "stop"])


@pytest.fixture
def tables():
    """A directory for registration tables, on a file system that can have them."""
    with tempfile.TemporaryDirectory(prefix="tables-test-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield pathlib.Path(folder)


@pytest.fixture(scope="session")
def xrc_compat(build_root):
    return build_root / "tools" / "xrc-compat"


@pytest.fixture(scope="session")
def sanitizer_runtime():
    """The library that a program with threads needs in LD_PRELOAD when the shim is built with a sanitizer and it is not."""
    return os.environ.get("XRC_COMPAT_TEST_PRELOAD", "")


@pytest.fixture(scope="session")
def sanitizer_env(sanitizer_runtime):
    """The environment by which a program without sanitizer loads a shim that has one."""
    return {"LD_PRELOAD": sanitizer_runtime} if sanitizer_runtime else {}


@pytest.fixture
def own_crashes(monkeypatch):
    """What crashes on purpose ends by the signal also where a sanitizer's runtime would end it with a report."""
    for variable in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
        options = [os.environ.get(variable, ""), "handle_segv=0", "allow_user_segv_handler=1"]
        monkeypatch.setenv(variable, ":".join(filter(None, options)))


@pytest.fixture(scope="session")
def run():
    """run(argv, timeout=30, **kw): see running.py."""
    return running.run
