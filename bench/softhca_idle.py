#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Measures the emulator's daemon while three programs hold objects and do nothing.

usage: softhca_idle.py SOFTHCA HOLDER
Processor time of the daemon over 20 seconds, so other work on the machine does not count. Fails
above 0.5 % of a processor.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LIMIT, SECONDS = 0.5, 20


def used(pid):
    """Seconds, of all its threads."""
    return sum(
        int(path.read_text().split()[0])
        for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def measure(softhca, holder, model, folder):
    env = dict(os.environ, SOFTHCA_DIR=str(folder / "d"))
    subprocess.run([softhca, "start", f"--model={model}"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    programs = []
    try:
        status = subprocess.run([softhca, "status"], env=env, check=True, stdout=subprocess.PIPE,
                                text=True).stdout
        pid = int(re.search(r"pid (\d+)", status).group(1))
        inside = dict(env, LD_PRELOAD=str(pathlib.Path(softhca).parent / "libsofthca.so"))
        for number in range(3):
            programs.append(
                subprocess.Popen([holder, folder / f"domain{number}", "idle", "4"], env=inside,
                                 stdout=subprocess.PIPE, text=True))
            assert programs[-1].stdout.readline() == "ready\n"
        before = used(pid)
        time.sleep(SECONDS)
        return (used(pid) - before) / SECONDS * 100
    finally:
        for program in programs:
            program.kill()
            program.wait()
        subprocess.run([softhca, "stop"], env=env, stdout=subprocess.DEVNULL)


def main(softhca, holder):
    worst = 0
    for model in ("connectx3", "connectx5"):
        with tempfile.TemporaryDirectory(prefix="softhca-idle-") as folder:
            share = measure(softhca, holder, model, pathlib.Path(folder))
        print(f"{model}: {share:.3f} % of a processor with three idle programs (limit {LIMIT})")
        worst = max(worst, share)
    return worst > LIMIT


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
