# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""packaging/needed-versions, which keeps files out of the bundle that need a newer C library,
notices such a file."""

import shutil

import pytest


@pytest.fixture
def needed(run, source_root, tmp_path):
    """needed(NEWEST, CALL): the command on a library that makes this call, with this glibc as the
    newest allowed."""
    if not shutil.which("objdump"):
        pytest.skip("no objdump")

    def _needed(newest, call):
        source, library = tmp_path / "caller.c", tmp_path / "caller.so"
        source.write_text(
            f"#define _GNU_SOURCE\n#include <sys/random.h>\n#include <stdlib.h>\nvoid caller(void *);\n"
            f"void caller(void *at) {{ {call}; }}\n")
        made = run(["cc", "-shared", "-fPIC", source, "-o", library])
        assert made.returncode == 0, made.stderr
        return run([source_root / "packaging" / "needed-versions", newest, library])

    return _needed


def test_a_newer_function_is_named(needed):
    assert needed("2.17", "free(at)").returncode == 0
    done = needed("2.17", "free(at); if (getrandom(at, 1, 0) < 0) abort()")
    assert done.returncode == 1
    assert "caller.so: getrandom is of glibc 2.25" in done.stdout
    assert "free" not in done.stdout


@pytest.mark.parametrize("newest, status", [("2.25", 0), ("2.3", 1)])
def test_versions_are_compared_as_numbers(needed, newest, status):
    assert needed(newest, "if (getrandom(at, 1, 0) < 0) abort()").returncode == status
