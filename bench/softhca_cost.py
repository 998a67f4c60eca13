#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Measures what the emulator's daemon takes: processor time while programs do nothing, time to
start, memory for a queue pair.

usage: softhca_cost.py SOFTHCA HOLDER
Processor time and memory are the daemon's own, so other work on the machine does not count. The
time to start is compared with that of a shell. SOFTHCA_MARGIN=2 makes the limits of times twice as
wide. Exit status 1 when a limit is missed, 2 when something cannot be measured.
"""

import argparse
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from measured import MARGIN, fail, measured

SECONDS, QPS, STARTS = 20, 1000, 15
# Per cent of a processor with three programs; times a shell's start; KiB.
IDLE, START, MEMORY = 0.5 * MARGIN, 30 * MARGIN, 6.4


@contextlib.contextmanager
def daemon(softhca, model, *holders):
    """The daemon's pid, with a program that holds objects for each list of words."""
    with tempfile.TemporaryDirectory(prefix="softhca-cost-") as folder:
        env = dict(os.environ, SOFTHCA_DIR=f"{folder}/d")
        subprocess.run([softhca, "start", f"--model={model}"], env=env, check=True,
                       stdout=subprocess.DEVNULL)
        inside = dict(env, LD_PRELOAD=str(pathlib.Path(softhca).parent / "libsofthca.so"))
        programs = []
        try:
            for number, (holder, *words) in enumerate(holders):
                programs.append(
                    subprocess.Popen([holder, f"{folder}/domain{number}", *words], env=inside,
                                     stdout=subprocess.PIPE, text=True))
                if programs[-1].stdout.readline() != "ready\n":
                    fail(f"{holder} does not hold {words}")
            status = subprocess.run([softhca, "status"], env=env, check=True,
                                    stdout=subprocess.PIPE, text=True).stdout
            yield re.search(r"pid (\d+)", status).group(1)
        finally:
            for program in programs:
                program.kill()
                program.wait()
            subprocess.run([softhca, "stop"], env=env, stdout=subprocess.DEVNULL)


def idle(softhca, holder, model, words):
    """Per cent of a processor, of all threads of the daemon."""
    def used(pid):
        return sum(
            int(path.read_text().split()[0])
            for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9

    with daemon(softhca, model, *[(holder, words)] * 3) as pid:
        before = used(pid)
        time.sleep(SECONDS)
        return (used(pid) - before) / SECONDS * 100


def memory(softhca, holder, model):
    """KiB for a queue pair, its rings included."""
    def resident(qps):
        with daemon(softhca, model, (holder, "idle", str(qps))) as pid:
            text = pathlib.Path(f"/proc/{pid}/status").read_text()
            return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))

    return (resident(QPS) - resident(0)) / QPS


def start(softhca, model):
    """How many times the time of a shell `softhca run` takes with the same shell in it."""
    def took(*words):
        begin = time.monotonic()
        subprocess.run([*words, "sh", "-c", ":"], check=True)
        return time.monotonic() - begin

    pairs = [(took(softhca, "run", f"--model={model}", "--"), took()) for _ in range(STARTS)]
    run, shell = (statistics.median(times) for times in zip(*pairs))
    print(f"{model}: softhca run takes {run * 1000:.1f} ms, a shell {shell * 1000:.1f} ms")
    return run / shell


def main(softhca, holder):
    good = []

    def judge(model, what, value, limit):
        good.append(value <= limit)
        print(f"{model}: {what}: {value:.3f} (limit {limit}){'' if good[-1] else '  MISSED'}")

    for model in ("connectx3", "connectx5"):
        for words in ("idle", "spent"):
            judge(model, f"per cent of a processor, three programs, {words}",
                  idle(softhca, holder, model, words), IDLE)
        judge(model, "start, times a shell's", start(softhca, model), START)
        judge(model, "KiB for a queue pair", memory(softhca, holder, model), MEMORY)
    return not all(good)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("softhca")
    parser.add_argument("holder")
    sys.exit(measured(main, **vars(parser.parse_args())))
