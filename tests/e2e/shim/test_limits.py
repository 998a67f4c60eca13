# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A program whose resource limits keep the library from writing its registration table."""

import os

import pytest


@pytest.mark.parametrize("limit", ["ulimit -n", "ulimit -f", "ulimit -v"])
def test_the_verbs_succeed_and_the_library_warns(run, softhca, xrc_compat, build_root,
                                                 sanitizer_env, limit):
    if limit == "ulimit -v" and "XRC_COMPAT_TEST_SANITIZE" in os.environ:
        pytest.skip("a sanitizer's runtime needs address space too")
    program = build_root / "tests" / "e2e" / "shim" / "limits"
    result = run([softhca, "run", "--devices=1", "--", xrc_compat, "run", "--", program, limit],
                 env={**sanitizer_env, "XRC_COMPAT_VERBOSE": "1"})
    assert result.returncode == 0 and result.stdout.startswith("ok "), result.stdout
