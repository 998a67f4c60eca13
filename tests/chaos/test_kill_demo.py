# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A process of the running demo is killed with -9 at a random moment: nobody hangs, nothing stays, the next run is clean.

CHAOS_KILLS: how many times (10). CHAOS_SEED: repeats the choices of a run that failed; it is in the message.
"""

import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

KILLS = int(os.environ.get("CHAOS_KILLS") or 10)
SEED = int(os.environ.get("CHAOS_SEED") or time.time_ns())
# Seconds. The demo gives a step 5 s and stragglers 2 s each; the emulator's daemon follows its last client.
STEP = 5
END = 30
ROUNDS = 30


def processes(marker):
    """{pid: command} of all live processes of the test: those that have `marker` in their environment."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if marker.encode() in (entry / "environ").read_bytes():
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z":
                    found[int(entry.name)] = (entry / "comm").read_text().strip()
        except OSError:
            continue  # it has just ended, or is another user's
    return found


def until(condition, seconds):
    """The first true value of condition(), or its last false one."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(0.01)


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
    """Where the demo runs: folders of its own, whose path marks its processes."""

    def __init__(self, build_root, folder):
        self.temporary, self.tables = folder / "tmp", folder / "tables"
        self.temporary.mkdir(mode=0o700)
        self.tables.mkdir(mode=0o700)
        self.marker = str(self.temporary)
        self.program = build_root / "tests" / "legacy" / "xrc-cluster"
        self.softhca = build_root / "softhca" / "softhca"
        self.shim = build_root / "shim" / "libxrc-compat.so.1"

    def start(self, *options):
        env = dict(os.environ, TMPDIR=str(self.temporary), XRC_COMPAT_TABLE_DIR=str(self.tables),
                   LD_PRELOAD=str(self.shim), XDG_RUNTIME_DIR="")
        return subprocess.Popen([self.softhca, "run", "--", self.program, "-t", str(STEP), *options], env=env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def cluster(self):
        """Its processes without the emulator's."""
        return sorted(pid for pid, command in processes(self.marker).items() if command == "xrc-cluster")

    def wait_for_the_end(self, process):
        """(status, stderr) when everybody is gone. Fails, and ends them, if that takes too long."""
        try:
            output, errors = process.communicate(timeout=END)
        except subprocess.TimeoutExpired:
            output, errors = None, f"the coordinator did not end within {END} s"
        gone = until(lambda: not processes(self.marker), END)
        left = processes(self.marker)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert gone and output is not None, f"still running: {left}; {errors}"
        return process.returncode, errors

    def leftovers(self):
        return sorted(path.name for path in self.temporary.iterdir())


def state_of(pid):
    """The letter of /proc/PID/stat; "X" when there is no such process any more."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def kill(pid):
    """False when it was ending by itself already, which no signal changes. One that can still be stopped is not."""
    try:
        os.kill(pid, signal.SIGSTOP)
        if until(lambda: state_of(pid) in "TZX", END) and state_of(pid) == "T":
            os.kill(pid, signal.SIGKILL)
            return True
    except ProcessLookupError:
        pass
    return False


def kill_one(demo, process, rng, moment):
    """The pid that was killed, None if all was over before."""
    time.sleep(moment)
    until(lambda: demo.cluster() or process.poll() is not None, END)
    while cluster := demo.cluster():
        victim = rng.choice(cluster)
        if kill(victim):
            return victim
    return None


def judge(process, victim, status, errors):
    """What the others have to say about it."""
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
    """Seconds that an undisturbed run takes, so that kills hit every part of it."""
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
    assert until(lambda: not demo.leftovers(), END), f"left behind: {demo.leftovers()}"
    assert not users(demo.tables), "a table that is still in use"

    status, errors = demo.wait_for_the_end(demo.start("-i", "1", *mode))
    assert (status, errors) == (0, ""), "the next run is not clean"
    assert until(lambda: not demo.leftovers(), END), f"left behind: {demo.leftovers()}"
