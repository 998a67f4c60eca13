# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs programs that must end by themselves."""

import subprocess

import pytest

from installed import rping_may_wait_for_itself


def waits_for_itself(daemon, process):
    """An rping whose ids and objects are all gone."""
    if process.args[0] != "rping" or not rping_may_wait_for_itself():
        return False
    now = daemon.objects()
    return not any(i["pid"] == process.pid for i in now["cm_ids"]) and \
        not any(c["pid"] == process.pid and c["objects"] for c in now["contexts"])


@pytest.fixture
def finish(daemon):
    """finish(process) -> (status, output). A process that hangs is killed, and the test fails; but
    an rping that has done its work and waits for itself has succeeded."""

    def _finish(process, seconds=30):
        for limit in (5, seconds - 5):
            try:
                out, _ = process.communicate(timeout=limit)
                return process.returncode, out
            except subprocess.TimeoutExpired:
                if waits_for_itself(daemon, process):
                    process.kill()
                    return 0, process.communicate()[0]
        process.kill()
        out, _ = process.communicate()
        raise AssertionError(f"{process.args} hung for {seconds} s: {out}")

    return _finish
