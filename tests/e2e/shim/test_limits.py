# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A legacy program creates its first receive QP under a resource limit, and again without it."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

LIMITS = ("data", "no-data", "as", "some-as", "nofile", "one-file", "two-files", "nproc", "fsize",
          "stack", "memlock")

# RLIMIT_NPROC does not count for root.
AS_A_USER = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"
             ] if os.geteuid() == 0 else []


@pytest.fixture(scope="module")
def folder():
    """A directory that every user can write to; pytest's tmp_path is not."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="limits-test-"))
    os.chmod(path, 0o1777)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def started(folder):
    """{(model, limit): process}. Some wait for a second, so all limits of a model run at once."""
    programs = {}
    yield programs
    for program in programs.values():
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
            program.communicate()


@pytest.fixture
def start(softhca, model, xrc_compat, build_root, folder):
    def _start(limit):
        user = AS_A_USER if limit == "nproc" else []
        own = folder / f"{model}-{limit}"
        own.mkdir()
        own.chmod(0o1777)
        program = build_root / "tests" / "e2e" / "shim" / "limits"
        command = [
            *user, softhca, "run", "--devices=1", "--", xrc_compat, "run", "--", program, limit,
            own / "domain"
        ]
        env = dict(os.environ, XRC_COMPAT_TABLE_DIR=str(own), XRC_COMPAT_VERBOSE="1")
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, start_new_session=True)

    return _start


@pytest.mark.parametrize("limit", LIMITS)
def test_the_call_returns_0_or_an_errno_of_the_contract(start, started, softhca, model, limit):
    if (model, limit) not in started:
        started.update({(model, name): start(name) for name in LIMITS})
    program = started[model, limit]
    output = program.communicate(timeout=60)[0]
    if limit == "nproc" and subprocess.run([*AS_A_USER, "test", "-x", softhca]).returncode:
        pytest.skip("another user cannot run what is built here")
    assert program.returncode == 0, (program.args, program.returncode, output)
    assert "without the limit: works" in output
