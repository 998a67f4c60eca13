# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""No setting of any resource limit kills or hangs an old program at its first receive QP."""

import os

import pytest

LIMITS = ("data", "no-data", "as", "some-as", "nofile", "one-file", "two-files", "nproc", "fsize", "stack", "memlock")

# The number of processes is nothing to root.
AS_A_USER = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"] if os.geteuid() == 0 else []


@pytest.mark.parametrize("sharing", ["on", "off"])
@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_an_error_at_most(run, softhca, xrc_compat, build_root, tmp_path, limit, sharing):
    program = build_root / "tests" / "e2e" / "shim" / "limits"
    user = AS_A_USER if limit == "nproc" else []
    if user:
        for folder in (tmp_path, *tmp_path.parents[:3]):
            os.chmod(folder, 0o755)
        os.chmod(tmp_path, 0o1777)
    result = run([*user, softhca, "run", "--devices=1", f"--open_qp={sharing}", "--", xrc_compat, "run", "--", program, limit,
                  tmp_path / "domain"], timeout=60, env={"XRC_COMPAT_TABLE_DIR": str(tmp_path), "XRC_COMPAT_VERBOSE": "1"})
    assert result.returncode == 0, result
    assert "with room again: works" in result.stdout
