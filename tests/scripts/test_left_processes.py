# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""./run-tests names the processes that tests leave behind."""

import os
import subprocess
import sys

MARK = {"RUN_TESTS_MARK": f"a run of this test by {os.getpid()}"}


def test_only_processes_of_the_run_are_named(run, source_root):
    look = [sys.executable, source_root / "scripts" / "left_processes.py"]
    sleeping = ["sleep", "60"]
    with subprocess.Popen(sleeping, env={**os.environ, **MARK}) as left, \
            subprocess.Popen(sleeping) as other:
        try:
            done = run(look, env=MARK)
            assert (done.returncode, done.stdout) == (
                1, f"left behind: process {left.pid}: sleep 60 \n"), done
            left.kill()
            left.wait()
            done = run(look, env=MARK)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        finally:
            left.kill()
            other.kill()
