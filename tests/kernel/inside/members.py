# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Legacy programs that share a domain, and their rows in the registration table."""

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile

import running


class Member:
    """A process of programs/member.c."""

    def __init__(self, argv):
        self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)

    def answer(self):
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        assert ready, "a member hangs"
        line = self.process.stdout.readline()
        assert line, f"a member ended with {self.process.wait()}"
        return int(line)

    def ask(self, letter):
        self.process.stdin.write(letter + "\n")
        self.process.stdin.flush()
        return self.answer()

    def kill(self):
        """Kills the process, its children, and the commands that started it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@contextlib.contextmanager
def sharing_a_domain(build_root, xrc_compat):
    """member(way, number): starts a process that opens the same domain. It creates a receive QP, or
    registers with receive QP @number. @way: words before its command."""
    members = []
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        def _member(way=(), number=None):
            words = [
                *way, xrc_compat, "run", "--", build_root / "tests" / "kernel" / "member",
                f"{folder}/domain"
            ]
            members.append(Member(words + ([number] if number is not None else [])))
            members[-1].number = members[-1].answer()
            return members[-1]

        try:
            yield _member
        finally:
            for one in members:
                one.kill()


def registrations(xrc_compat):
    """The members "qp", "state" and "kept" of each registration of "xrc-compat ps --json"."""
    rows = json.loads(running.run([xrc_compat, "ps", "--json"], 300).stdout)["registrations"]
    return [(row["qp"], row["state"], row["kept"]) for row in rows]
