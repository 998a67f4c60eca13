# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A process of the running demo is killed at a random moment: no other hangs, nothing is left behind, the next run is clean.

CHAOS_KILLS: how many times (5). CHAOS_SEED: repeats the choices of a run that failed; it is in the message.
"""

import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

from waiting import process_state, wait_for

KILLS = int(os.environ.get("CHAOS_KILLS") or 5)
SEED = int(os.environ.get("CHAOS_SEED") or time.time_ns())
STEP = 20  # seconds that the demo gives a step
END = 60  # seconds until the demo, and the emulator's daemon after it, must have ended
ROUNDS = 30


def processes(marker):
    """{pid: command} of the live processes of this test, which have `marker` in their environment."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if marker.encode() in (entry / "environ").read_bytes():
                if process_state(entry.name) not in "XZ":
                    found[int(entry.name)] = (entry / "comm").read_text().strip()
        except OSError:
            continue  # it has just ended, or is another user's
    return found


def users(folder):
    """Processes that have a file of the folder open."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if any(os.readlink(f"{process}/fd/{fd}").startswith(f"{folder}/") for fd in os.listdir(process / "fd")):
                found.add(process.name)
        except OSError:  # it, or what it had open, has gone meanwhile
            continue
    return found


class Demo:
    """The demo, with folders of its own, whose path marks its processes."""

    def __init__(self, build_root, folder):
        self.temporary, self.tables = folder / "tmp", folder / "tables"
        self.temporary.mkdir(mode=0o700)
        self.tables.mkdir(mode=0o700)
        self.marker = str(self.temporary)
        self.program = build_root / "demo" / "xrc-cluster"
        self.softhca = build_root / "softhca" / "bin" / "softhca"
        self.shim = build_root / "shim" / "libxrc-compat.so.1"

    def start(self, *options):
        env = dict(os.environ, TMPDIR=str(self.temporary), XRC_COMPAT_TABLE_DIR=str(self.tables),
                   LD_PRELOAD=str(self.shim), XDG_RUNTIME_DIR="")
        return subprocess.Popen([self.softhca, "run", "--", self.program, "-t", str(STEP), *options], env=env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def cluster(self):
        """The pids of the demo's processes, without the emulator's."""
        return sorted(pid for pid, command in processes(self.marker).items() if command == "xrc-cluster")

    def wait_for_the_end(self, process):
        """(status, stderr), when all processes have ended. If that takes too long, kills them and fails."""
        try:
            output, errors = process.communicate(timeout=END)
        except subprocess.TimeoutExpired:
            output, errors = None, f"the coordinator did not end within {END} s"
        try:
            wait_for(lambda: processes(self.marker), "end of all processes", END, holds=lambda left: not left)
        finally:
            for pid in processes(self.marker):
                os.kill(pid, signal.SIGKILL)
        assert output is not None, errors
        return process.returncode, errors

    def wait_for_no_files(self):
        wait_for(lambda: sorted(path.name for path in self.temporary.iterdir()), "end of all files", END, holds=lambda left: not left)


def kill(pid):
    """Kills it. False if it was already ending by itself: only a process that is not can still be stopped."""
    try:
        os.kill(pid, signal.SIGSTOP)
        if wait_for(lambda: process_state(pid), "stop or end", END, holds=lambda state: state in "TXZ") == "T":
            os.kill(pid, signal.SIGKILL)
            return True
    except ProcessLookupError:
        pass
    return False


def kill_one(demo, process, rng, moment):
    """The pid that was killed, or None if all processes had ended before."""
    time.sleep(moment)
    wait_for(lambda: demo.cluster() or process.poll() is not None, "process of the demo", END)
    while cluster := demo.cluster():
        victim = rng.choice(cluster)
        if kill(victim):
            return victim
    return None


def judge(process, victim, status, errors):
    """Checks what the other processes made of it."""
    if victim is None:
        assert (status, errors) == (0, "")
    elif victim == process.pid:
        assert status == -signal.SIGKILL
        assert all(line.startswith("xrc-cluster: ") for line in errors.splitlines()), errors
    else:
        assert status == 1, (status, errors)
        assert "was killed by signal 9" in errors
        assert "took too long" not in errors and "does not answer" not in errors, errors


@pytest.fixture(scope="module")
def duration(build_root, tmp_path_factory):
    """Seconds that a run takes without a kill. The kills are spread over that time."""
    demo = Demo(build_root, tmp_path_factory.mktemp("undisturbed"))
    begin = time.monotonic()
    status, errors = demo.wait_for_the_end(demo.start("-i", str(ROUNDS)))
    assert (status, errors) == (0, "")
    return time.monotonic() - begin


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_at_a_random_moment(model, build_root, tmp_path, duration, number):
    rng = random.Random(f"{SEED}/{number}")
    moment, mode = rng.uniform(0, duration), rng.choice([[], ["-e"]])
    print(f"CHAOS_SEED={SEED}: kill {number} after {moment:.3f} s {mode}")
    demo = Demo(build_root, tmp_path)
    process = demo.start("-i", str(ROUNDS), *mode)
    victim = kill_one(demo, process, rng, moment)
    status, errors = demo.wait_for_the_end(process)
    judge(process, victim, status, errors)
    demo.wait_for_no_files()
    assert not users(demo.tables), "a table that is still in use"

    status, errors = demo.wait_for_the_end(demo.start("-i", "1", *mode))
    assert (status, errors) == (0, ""), "the next run is not clean"
    demo.wait_for_no_files()
