# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The compilers, as somebody calls them who recompiles an old program."""

import os
import subprocess

import pytest

COMPILER = {"c": os.environ.get("CC", "cc").split(), "c++": os.environ.get("CXX", "c++").split()}


def compiler(language, *arguments):
    """Runs the compiler of a language: what it complains about, "" for nothing, and whether it went well."""
    try:
        done = subprocess.run([*COMPILER[language], *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        pytest.skip(f"no {language} compiler")
    return done.returncode == 0, done.stderr
