# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Calls the compilers as a user does to recompile an old program."""

import os
import subprocess

import pytest

STRICT = ["-Wall", "-Wextra", "-Werror"]
COMPILER = {"c": os.environ.get("CC", "cc").split(), "c++": os.environ.get("CXX", "c++").split()}


def compiler(language, *arguments):
    """Runs the compiler of a language: (whether it succeeded, what it printed on stderr)."""
    try:
        done = subprocess.run([*COMPILER[language], *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        pytest.skip(f"no {language} compiler")
    return done.returncode == 0, done.stderr


def build(output, language, *arguments):
    """Compiles without a warning; returns the output."""
    ok, errors = compiler(language, *STRICT, "-o", output, *arguments)
    assert ok, errors
    return output
