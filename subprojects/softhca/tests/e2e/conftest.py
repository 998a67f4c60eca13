# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs on emulated adapters of their own."""

import os
import pathlib
import subprocess
import tempfile

import pytest

from built import MPI_PROGRAM, PROGRAMS
from installed import need, remove_domain_files
from pairs import pair_command


@pytest.fixture(scope="session", autouse=True)
def no_domain_files_are_left():
    """Another user's tests could not open them."""
    yield
    remove_domain_files()


@pytest.fixture
def below(run, softhca):
    """below(SETTINGS, WORD..., **kw): runs a command below `softhca run`. It must succeed. Returns
    what run() returns."""
    def start(settings, *argv, timeout=60, **kw):
        done = run([softhca, "run", *settings, "--", *argv], timeout=timeout, **kw)
        assert done.returncode == 0, done.stdout + done.stderr
        return done
    return start


@pytest.fixture
def passes(below, softhca):
    """passes(SETTINGS, NAME, WORD..., **kw): the same for the program softhca-NAME of these tests.
    Its pair_control() runs softhca."""
    def start(settings, name, *words, env=None, **kw):
        return below(settings, PROGRAMS / f"softhca-{name}", *words,
                     env={"SOFTHCA_TEST_COMMAND": str(softhca), **(env or {})}, **kw)
    return start


@pytest.fixture
def pair(below):
    """pair(ARGV, settings=(), **kw): runs server and client (pairs.py). Returns their output."""
    return lambda argv, settings=(), **kw: below(settings, *pair_command(argv, **kw)).stdout


@pytest.fixture
def place(monkeypatch):
    """A directory for everything that softhca makes. Its name is short, because the names of
    sockets must be short."""
    with tempfile.TemporaryDirectory(prefix="softhca-test-", dir="/tmp") as directory:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        monkeypatch.delenv("SOFTHCA_DIR", raising=False)
        yield pathlib.Path(directory)


@pytest.fixture
def as_nobody(run, softhca):
    """The arguments that start a command as a user without privileges."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    command = ["setpriv", "--reuid=65534", "--clear-groups"]
    if run([*command, "test", "-x", softhca]).returncode:
        pytest.skip("the build is out of another user's reach")
    return command


@pytest.fixture(scope="session")
def mpi_program(tmp_path_factory):
    """mpi_program(FLAVOUR): ring_of_ranks.c, compiled with the mpicc of "mpich" or "openmpi"."""
    def build(flavour):
        need(f"mpicc.{flavour}")
        if subprocess.run([f"mpicc.{flavour}", "-E", "-include", "mpi.h", "-xc", os.devnull],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            pytest.skip(f"the headers of {flavour} are not installed")
        program = tmp_path_factory.getbasetemp() / f"ring-{flavour}"
        if not program.exists():
            subprocess.run([f"mpicc.{flavour}", "-O1", "-o", program, MPI_PROGRAM], check=True)
        return program
    return build
