# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""No setting of any resource limit kills or hangs an old program at its first receive QP."""

import os
import shutil
import subprocess
import tempfile

import pytest

LIMITS = ("data", "no-data", "as", "some-as", "nofile", "one-file", "two-files", "nproc", "fsize", "stack", "memlock")

# The number of processes is nothing to root.
AS_A_USER = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"] if os.geteuid() == 0 else []


@pytest.fixture
def folder():
    """One that every user may use: pytest keeps its own to itself."""
    path = tempfile.mkdtemp(prefix="limits-test-")
    os.chmod(path, 0o1777)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("sharing", ["on", "off"])
@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_an_error_at_most(run, softhca, xrc_compat, build_root, folder, limit, sharing):
    program = build_root / "tests" / "e2e" / "shim" / "limits"
    user = AS_A_USER if limit == "nproc" else []
    if user and subprocess.run([*user, "test", "-x", softhca], check=False).returncode:
        pytest.skip("another user cannot run what is built here")
    result = run([*user, softhca, "run", "--devices=1", f"--open_qp={sharing}", "--", xrc_compat, "run", "--", program, limit,
                  f"{folder}/domain"], timeout=60, env={"XRC_COMPAT_TABLE_DIR": folder, "XRC_COMPAT_VERBOSE": "1"})
    assert result.returncode == 0, result
    assert "with room again: works" in result.stdout
