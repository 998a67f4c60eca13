# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that must come to an end."""

import subprocess

import pytest


@pytest.fixture
def finish():
    """finish(process) -> (status, output). A process that hangs is killed, and the test fails."""
    started = []

    def _finish(process, seconds=30):
        started.append(process)
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            raise AssertionError(f"{process.args} hung for {seconds} s: {out}") from None
        return process.returncode, out

    return _finish
