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


def test_old_functions_pass(needed):
    done = needed("2.17", "free(at)")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_newer_function_is_named(needed):
    done = needed("2.17", "free(at); if (getrandom(at, 1, 0) < 0) abort()")
    assert done.returncode == 1
    assert "caller.so: getrandom is of glibc 2.25" in done.stdout
    assert "free" not in done.stdout


def test_versions_are_compared_as_numbers(needed):
    assert needed("2.25", "if (getrandom(at, 1, 0) < 0) abort()").returncode == 0
    done = needed("2.3", "if (getrandom(at, 1, 0) < 0) abort()")
    assert (done.returncode, "getrandom is of glibc 2.25" in done.stdout) == (1, True)


def test_a_file_that_is_no_library_is_refused(run, source_root):
    done = run([source_root / "packaging" / "needed-versions", "2.17", source_root / "README.md"])
    assert done.returncode == 1
