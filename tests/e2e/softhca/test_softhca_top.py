# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`softhca ctl top` and `counters`: what QPs have done and what they wait for, on screens of every size."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

import models

PROGRAM = pathlib.Path(os.environ["SOFTHCA_TEST_PROGRAMS"]) / "softhca-counted"


@pytest.fixture
def counted(model, softhca, run, monkeypatch):
    """A daemon, and the program on it: {name: QP number}; its pid is in .pid."""
    place = subprocess.check_output(["mktemp", "-d", "/tmp/softhca-test-XXXXXX"], text=True).strip()
    monkeypatch.setenv("SOFTHCA_DIR", f"{place}/s")
    preload = run([softhca, "start"]).stdout.split("LD_PRELOAD=")[1].strip().strip("'")
    program = subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True, env=dict(os.environ, LD_PRELOAD=preload))
    try:
        numbers = [int(word) for word in program.stdout.readline().split()]
        assert len(numbers) == 3, "the program could not do its work"
        yield dict(zip(("sender", "receiver", "refused"), numbers), pid=program.pid)
    finally:
        program.kill()
        program.communicate(timeout=10)
        run([softhca, "stop"])
        subprocess.run(["rm", "-rf", place], check=True)


def counters(run, softhca):
    lines = [line.split() for line in run([softhca, "ctl", "counters"]).stdout.splitlines()]
    return {(line[1], int(line[3])): line[2:3] + line[4:] for line in lines if line[0] == "qp"}, {
        line[1]: line[2:] for line in lines if line[0] == "device"}


def test_counters(run, softhca, counted):
    """Every request and every receive once; the failed one as an error, and no flush."""
    here, there = models.device(0), models.device(1)
    deadline = time.monotonic() + 10
    qps, devices = counters(run, softhca)
    while qps[here, counted["sender"]][8] == "-" and time.monotonic() < deadline:
        qps, devices = counters(run, softhca)
    assert qps[here, counted["sender"]] == [str(counted["pid"]), "RC", "RTS", "5", "5000", "0", "0", "0", "buffer",
                                            str(counted["receiver"])]
    assert qps[there, counted["receiver"]][3:9] == ["0", "0", "5", "5000", "0", "-"]
    assert qps[here, counted["refused"]][2:9] == ["ERR", "0", "0", "0", "0", "1", "-"]
    assert devices == {here: ["2", "5", "5000", "0", "0", "1"], there: ["2", "0", "0", "5", "5000", "0"]}


def painted(terminal, until):
    """What a terminal of the test's own was sent, until @until is found in it."""
    text, deadline = b"", time.monotonic() + 20
    while not re.search(until, text):
        ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        assert ready, text
        text += os.read(terminal, 65536)
    return text.decode()


def lines_of(screen):
    return [re.sub(r"\x1b\[[HJK]", "", line).rstrip() for line in screen.split("\x1b[H")[-1].split("\r\n")]


def test_top_fits_the_terminal_also_when_it_is_resized(softhca, counted):
    """80 columns, which are enough for all; then 20 by 4, at once."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    with subprocess.Popen([softhca, "ctl", "top", "600"], stdin=subprocess.DEVNULL, stdout=theirs) as top:
        try:
            wide = lines_of(painted(ours, rb"\x1b\[J[^\x1b]* RC [^\x1b]*"))
            fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("4H", 4, 20, 0, 0))
            top.send_signal(signal.SIGWINCH)
            narrow = lines_of(painted(ours, rb"\x1b\[J.* more"))
        finally:
            top.kill()
    os.close(ours)
    os.close(theirs)
    assert max(map(len, wide)) <= 80
    assert wide[0].split() == ["DEVICE", "OUT/s", "B/s", "IN/s", "B/s", "QPs", "ERRORS"]
    assert wide[1].split() == [models.device(0), "-", "-", "-", "-", "2", "1"]
    rows = {line.split()[2]: line.split() for line in wide[5:]}
    assert rows[f"{counted['sender']:06x}"][3:] == ["RC", "RTS", "5", "5000", "0", "0", "0", "buffer", f"{counted['receiver']:06x}"]
    assert rows[f"{counted['receiver']:06x}"][5:] == ["0", "0", "5", "5000", "0", "-"]
    assert narrow[0] == wide[0][:20].rstrip() and max(map(len, narrow)) <= 20
    assert narrow[3] == f"... and {len(wide) - 3} more"


def test_top_goes_on_without_a_terminal(softhca, counted):
    """Rates are those between two screens: nothing moves."""
    with subprocess.Popen([softhca, "ctl", "top"], stdout=subprocess.PIPE, text=True) as top:
        time.sleep(2.6)
        top.kill()
        text = top.communicate(timeout=10)[0]
    screens = text.split("DEVICE  OUT/s")[1:]
    assert len(screens) >= 2
    assert screens[0].splitlines()[1].split()[1:5] == ["-"] * 4
    assert screens[1].splitlines()[1].split()[1:5] == ["0"] * 4


def test_top_ends_with_the_daemon(run, softhca, counted):
    with subprocess.Popen([softhca, "ctl", "top"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as top:
        top.stdout.readline()
        run([softhca, "stop"])
        _, errors = top.communicate(timeout=10)
    assert top.returncode == 1 and "no daemon in" in errors


@pytest.mark.parametrize("words", [["0"], ["x"], ["1", "2"], ["3601"]])
def test_wrong_usage(run, softhca, words):
    done = run([softhca, "ctl", "top", *words])
    assert done.returncode == 2 and "top takes the seconds between two screens" in done.stderr
