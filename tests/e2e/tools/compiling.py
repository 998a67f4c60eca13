# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compiles sample programs and libraries out of text."""

import subprocess

import pytest


def compile_c(output, source, *flags):
    """Compiles and links @source as @output, with all libraries in @flags. Skips the test if it
    cannot do -static or -m32."""
    done = subprocess.run(
        ["cc", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed", "-o", output, *flags],
        input=source, text=True, capture_output=True, timeout=60)
    if done.returncode and {"-static", "-m32"} & set(flags):
        pytest.skip(f"the compiler cannot do {' '.join(map(str, flags))} here")
    assert done.returncode == 0, done.stderr
    return output


def executed_here(program):
    """Whether this kernel executes @program. Some kernels execute no 32-bit programs."""
    try:
        subprocess.run([program], capture_output=True, timeout=30, check=False)
    except OSError:
        return False
    return True
