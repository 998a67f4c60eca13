# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Legacy programs that share a domain (tests/e2e/classes/worker.c)."""

import contextlib
import os
import signal
import subprocess

import pytest


class Worker:
    """A process that opens the domain. @way: words before its command."""

    def __init__(self, way, argv, env=None):
        self.process = subprocess.Popen([str(a) for a in [*way, *argv]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True,
                                        env=env)
        first = self.process.stdout.readline()
        words = first.split()
        if len(words) != 4:
            self.kill()
            pytest.fail(f"{' '.join(map(str, argv))}: its first line is {first!r}")
        self.bits, self.pid, self.lid, self.srq = map(int, words)

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    def create(self):
        """Creates a receive QP. The adapter learns of it when it leaves RESET, so it is connected
        with a sender that does not exist."""
        number = self.ask("create")
        assert self.ask("connect", number, 1, 1) == 0
        return number

    def kill(self):
        """Kills the process and the commands that started it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def worker(build_root, xrc_compat, tmp_path):
    """worker(way): starts a process that shares the domain of this test."""
    workers = []
    program = build_root / "tests" / "e2e" / "classes" / "worker"

    def _worker(way=()):
        workers.append(Worker(way, [xrc_compat, "run", "--", program, "0", tmp_path / "domain"]))
        return workers[-1]

    yield _worker
    for one in workers:
        one.kill()
