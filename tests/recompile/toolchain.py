# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Calls the compilers as a user does to recompile an old program."""

import os
import subprocess

import pytest

STRICT = ["-Wall", "-Wextra", "-Werror"]
COMPILER = {"c": os.environ.get("CC", "cc").split(), "c++": os.environ.get("CXX", "c++").split()}


def compiler(language, *arguments, text=None):
    """Runs the compiler of a language, on a source if there is a text: (whether it succeeded, what
    it printed on stderr)."""
    source = [] if text is None else ["-x", language, "-", "-x", "none"]
    try:
        done = subprocess.run([*COMPILER[language], *source, *map(str, arguments)],
                              input=text or "", capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        pytest.skip(f"no {language} compiler")
    return done.returncode == 0, done.stderr


def build(output, language, *arguments, text=None):
    """Compiles without a warning; returns the output."""
    ok, errors = compiler(language, *STRICT, "-o", output, *arguments, text=text)
    assert ok, errors
    return output
