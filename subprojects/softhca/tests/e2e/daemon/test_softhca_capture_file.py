# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The file of `softhca ctl capture`: what is refused, and what is in it when a process is killed,
when the disk is full or slow, and when the daemon ends."""

import os
import pathlib
import re
import signal
import subprocess

import pytest

import models
from capturing import capturing
from installed import need
from pairs import pair_command
from pcapng import Capture
from waiting import stop, wait_for, wait_for_the_end

pytestmark = pytest.mark.any_model

# Sends until it is killed.
ENDLESS = ["-n", 10_000_000]


@pytest.fixture
def path(daemon):
    return daemon.scratch / "captured.pcapng"


@pytest.fixture
def ctl(run, softhca, daemon):
    """ctl(WORD...): `softhca ctl capture WORD...`, whatever its exit status."""
    return lambda *words: run([softhca, "ctl", "capture", *words], env={"LD_PRELOAD": ""})


@pytest.fixture
def traffic(daemon, path):
    """A pair of programs that send as long as the test needs them, and some of it in the file."""
    daemon.ask("ctl", "capture", path)
    with daemon.start(pair_command(["ibv_rc_pingpong", *ENDLESS]), start_new_session=True,
                      stdout=subprocess.DEVNULL) as programs:
        wait_for(path.stat, "captured packets", holds=lambda stat: stat.st_size > 1 << 20)
        try:
            yield programs
        finally:
            os.killpg(programs.pid, signal.SIGKILL)


def writer_of(path):
    """The process that has the file open for writing, beside the daemon."""
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (proc / "comm").read_text() == "softhca-capture\n" and any(
                    os.readlink(fd) == str(path) for fd in (proc / "fd").iterdir()):
                return int(proc.name)
        except OSError:
            pass  # it has ended
    return None


def captured(done):
    """The number that `softhca ctl capture --stop` gives of a capture that has ended early."""
    return int(re.search(r"; (\d+) packets captured, ", done.stderr)[1])


# ---- refusals ----

def make_link(path):
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("make", [pathlib.Path.touch, os.mkfifo, make_link])
def test_the_file_must_be_new(ctl, path, make):
    make(path)
    done = ctl(path)
    assert done.returncode == 125 and done.stderr == f"softhca: {path}: File exists\n"
    assert ctl("--stop").returncode == 1


@pytest.mark.parametrize("word, message", [
    *((word, "capture takes --snap=BYTES, 128 to 8192") for word in (
        "--snap=127", "--snap=8193", "--snap=many", "--snap")),
    *((word, f"capture: {word}: unknown option") for word in ("--sn=128", "--nonsense", "--stop")),
    ("another", "capture takes one file"),
])
def test_wrong_words_are_refused(ctl, path, word, message):
    done = ctl(path, word)
    assert done.returncode == 125 and message in done.stderr
    assert not path.exists()


def test_there_is_one_capture_at_a_time(ctl, path):
    other = path.with_name("other")
    assert ctl().returncode == 1
    assert ctl(path).returncode == 0
    done = ctl(other)
    assert done.returncode == 1 and "a capture runs already" in done.stderr
    assert not other.exists()
    assert ctl().stdout == "capturing, 0 packets so far, 0 more dropped\n"
    for words in (["--stop"], ["--stop"], []):
        assert ctl(*words).stdout == "0 packets captured, 0 more dropped\n"
    assert ctl(other).returncode == 0


def test_without_a_daemon_there_is_no_file(run, softhca, daemon, ctl, path):
    daemon.stop()
    done = ctl(path)
    assert done.returncode == 1 and "no daemon" in done.stderr
    assert not path.exists()


def test_no_process_and_no_descriptor_stays(daemon, path):
    before = daemon.descriptors()
    with capturing(daemon):
        writer = writer_of(path)
        assert writer
    wait_for_the_end(writer)
    daemon.until_given_back(before)


# ---- kills, disks that are full or slow, and the end of the daemon ----

def test_the_programs_are_killed(ctl, path, traffic):
    os.killpg(traffic.pid, signal.SIGKILL)
    done = ctl("--stop")
    assert done.returncode == 0 and Capture(path).statistics


def test_the_daemon_is_killed(daemon, path, traffic):
    """All that was sent before is in the file."""
    writer = writer_of(path)
    daemon.kill()
    wait_for_the_end(writer)
    capture = Capture(path)
    assert len(capture.packets) > 1000 and not capture.statistics


def test_the_daemon_is_stopped(daemon, path, traffic):
    writer = writer_of(path)
    daemon.stop()
    wait_for_the_end(writer)
    capture = Capture(path)
    assert sum(sent for sent, _ in capture.statistics.values()) == len(capture.packets)


def test_the_writer_is_killed_in_the_midst_of_a_record(ctl, path, traffic):
    """The beginning of a record stands for one that the kill has cut."""
    writer = writer_of(path)
    stop(writer)
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(whole[:20])
    os.kill(writer, signal.SIGKILL)
    wait_for(ctl, "end of the capture", holds=lambda done: done.returncode == 1)
    done = ctl("--stop")
    assert "the process that wrote the file was killed" in done.stderr
    assert whole.startswith(path.read_bytes()) and len(Capture(path).packets) > 1000
    assert captured(done) == len(Capture(path).packets)
    path.unlink()
    assert ctl(path).returncode == 0


def test_a_full_disk_ends_the_capture(run, softhca, daemon, ctl, path):
    """A limit of the file's size stands for it. The daemon serves on."""
    limit = ["sh", "-c", 'ulimit -f 100; exec "$@"', "sh", softhca, "ctl", "capture", path]
    assert run(limit).returncode == 0
    done = run(pair_command(["ibv_rc_pingpong"]))
    assert done.returncode == 0, done.stdout + done.stderr
    done = ctl("--stop")
    assert done.returncode == 1
    assert "the capture has ended early: File too large; " in done.stderr
    assert 40 < len(Capture(path).packets) < 200 and path.stat().st_size <= 100 * 1024
    assert captured(done) == len(Capture(path).packets)


def test_a_slow_disk_holds_up_no_program(run, daemon, ctl, path):
    """A stopped writer stands for it. What has no room in the ring is counted."""
    assert ctl(path).returncode == 0
    writer = writer_of(path)
    stop(writer)
    done = run(pair_command(["ibv_rc_pingpong", "-s", 4096, "-m", 4096, "-n", 2000]))
    assert done.returncode == 0, done.stdout + done.stderr
    os.kill(writer, signal.SIGCONT)
    done = ctl("--stop")
    capture = Capture(path)
    sent = sum(sent for sent, _ in capture.statistics.values())
    dropped = sum(dropped for _, dropped in capture.statistics.values())
    assert sent == 8000 and dropped > 1000 and len(capture.packets) == sent - dropped
    assert done.stdout == f"{sent - dropped} packets captured, {dropped} more dropped\n"


def test_a_run_captures(run, softhca, path):
    """Also without --stop: the end of the daemon completes the file."""
    need("ibv_devinfo")
    script = f"{softhca} ctl capture {path}; ibv_devinfo >{path}.out"
    done = run([softhca, "run", "--", "sh", "-c", script])
    assert done.returncode == 0, done.stderr
    wait_for(lambda: writer_of(path), "end of the writer", holds=lambda pid: not pid)
    assert Capture(path).names == [f"{models.device(0)}/1", f"{models.device(1)}/1"]
