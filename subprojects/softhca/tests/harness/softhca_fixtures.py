# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Fixtures and options of every pytest on emulated adapters: their models, their daemon, and what
cannot run in some builds."""

import os
import pathlib
import sys
import tempfile
import zlib

import pytest

if sys.version_info < (3, 9):
    raise pytest.UsageError(
        f"the tests need Python 3.9 or later, and {sys.executable} is {sys.version.split()[0]}: put the pytest of a "
        "later one on PATH as pytest-3, and build anew")

import installed
import models
import running
from emulator import Daemon


# {(sanitizer, or "" for any; part of the test's name): why it cannot run there}
NOT_UNDER_SANITIZERS = {
    ("thread", "test_a_daemon_that_does_not_start_is_reported"): "the sanitizer's runtime writes a file",
}


# {(the first release of rdma-core on which the test runs, or NO_OTHER for only that of the system;
# part of the test's path and name): why}
NO_OTHER = sys.maxsize
NOT_ON_ANOTHER_RDMA_CORE = {
    (NO_OTHER, "test_perftest"):
        "perftest asks for the private symbols of the release that it was built with",
    (NO_OTHER, "test_settings_of_libmlx5"):
        "perftest asks for the private symbols of the release that it was built with",
    (28, "softhca/tests/"):
        "the emulator's test programs call ibv_reg_mr_iova2, which libibverbs has since rdma-core 28",
}


def pytest_collection_modifyitems(items):
    sanitizer = os.environ.get("SOFTHCA_TEST_SANITIZE")
    another = "SOFTHCA_TEST_RDMA_CORE" in os.environ and installed.rdma_core_release()
    for item in items:
        for (first, name), reason in NOT_ON_ANOTHER_RDMA_CORE.items():
            if another and another < first and name in f"{item.fspath} {item.name}":
                item.add_marker(pytest.mark.skip(reason=reason))
        for (which, name), reason in NOT_UNDER_SANITIZERS.items():
            if sanitizer and which in sanitizer and name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter):
    for row, times in running.skipped_rows.items():
        terminalreporter.write_line(f"SKIPPED ROW [{times}] {row}")


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "on_model(name...): runs on these models of adapter; the test says why")
    config.addinivalue_line(
        "markers", "any_model: the model makes no difference, so the test runs on one of them")
    if not models.chosen() or set(models.chosen()) - set(models.DRIVERS):
        raise pytest.UsageError(f"SOFTHCA_TEST_MODELS takes some of {', '.join(models.DRIVERS)}")


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
def softhca_source():
    return pathlib.Path(os.environ["SOFTHCA_TEST_SOURCE"])


@pytest.fixture
def softhca(model):
    """The softhca command. It depends on `model`, so that the test runs on every model."""
    return pathlib.Path(os.environ["SOFTHCA_TEST_BIN"]) / "softhca"


@pytest.fixture
def settings():
    """Further options of softhca for the fixtures that start it; a test can parametrize it."""
    return []


@pytest.fixture
def in_memory():
    """A directory in memory if there is one, with a path that is short enough for a socket. A
    daemon makes 450 files in its directory. On ext4 these take longer than all else that it
    does."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
    with tempfile.TemporaryDirectory(prefix="softhca-test-", dir=memory) as folder:
        yield pathlib.Path(folder)


@pytest.fixture
def daemon(run, softhca, settings, monkeypatch, in_memory):
    """Emulated adapters that outlive the programs on them."""
    started = Daemon(run, softhca, in_memory)
    monkeypatch.setenv("SOFTHCA_DIR", str(started.directory))
    done = run([softhca, "start", *settings])
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("LD_PRELOAD", str(started.preload))
    yield started
    # The daemon must end even if the preloaded library is broken.
    monkeypatch.delenv("LD_PRELOAD")
    monkeypatch.setenv("SOFTHCA_DIR", str(started.directory))  # a test may have changed it
    done = run([softhca, "stop"])
    assert (done.returncode != 0) == started.ended, done.stderr


@pytest.fixture(scope="session")
def run():
    """run(argv, timeout=30, **kw): see running.py."""
    return running.run
