# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`softhca ctl top` and `counters`: what QPs have done and what they wait for, on screens of every
size."""

import os
import pathlib
import subprocess

import pytest

import models
from terminal import Terminal
from waiting import read_until, wait_for

pytestmark = pytest.mark.any_model

PROGRAM = pathlib.Path(os.environ["SOFTHCA_TEST_PROGRAMS"]) / "softhca-counted"
HEADING = "DEVICE  OUT/s"


def counters(daemon):
    """What `ctl counters` says: {(device, number): fields of the QP}, {device: its fields}."""
    lines = [line.split() for line in daemon.ask("ctl", "counters").splitlines()]
    return {(line[1], int(line[3])): line[2:3] + line[4:] for line in lines if line[0] == "qp"}, {
        line[1]: line[2:] for line in lines if line[0] == "device"}


@pytest.fixture
def counted(daemon):
    """A program on the daemon, which has done its work but for one message that waits: {name: QP
    number}; its pid is in ["pid"]."""
    program = daemon.start([PROGRAM], stderr=None)
    try:
        numbers = [int(word) for word in program.stdout.readline().split()]
        assert len(numbers) == 3, "the program could not do its work"
        wait_for(lambda: counters(daemon)[0][models.device(0), numbers[0]], "sender that waits",
                 holds=lambda fields: fields[8] != "-")
        yield dict(zip(("sender", "receiver", "refused"), numbers), pid=program.pid)
    finally:
        program.kill()
        program.communicate(timeout=30)


def test_counters(daemon, counted):
    """Every request and every receive once; the failed one as an error, and no flush."""
    here, there = models.device(0), models.device(1)
    qps, devices = counters(daemon)
    assert qps[here, counted["sender"]] == [
        str(counted["pid"]), "RC", "RTS", "5", "5000", "0", "0", "0", "buffer",
        str(counted["receiver"])
    ]
    assert qps[there, counted["receiver"]][3:9] == ["0", "0", "5", "5000", "0", "-"]
    assert qps[here, counted["refused"]][2:9] == ["ERR", "0", "0", "0", "0", "1", "-"]
    assert devices == {
        here: ["2", "5", "5000", "0", "0", "1"], there: ["2", "0", "0", "5", "5000", "0"]
    }


def test_top_fits_the_terminal_also_when_it_is_resized(softhca, counted):
    """80 columns, which are enough for all; then 20 by 4, at once."""
    with Terminal([softhca, "ctl", "top", "600"], 24, 80) as screen:
        wide = screen.painted(rb"\x1b\[J[^\x1b]* RC [^\x1b]*")
        screen.resize(4, 20)
        narrow = screen.painted(rb"\x1b\[J.* more")
    assert max(map(len, wide)) <= 80
    assert wide[0].split() == ["DEVICE", "OUT/s", "B/s", "IN/s", "B/s", "QPs", "ERRORS"]
    assert wide[1].split() == [models.device(0), "-", "-", "-", "-", "2", "1"]
    rows = {line.split()[2]: line.split() for line in wide[5:]}
    assert rows[f"{counted['sender']:06x}"][3:] == [
        "RC", "RTS", "5", "5000", "0", "0", "0", "buffer", f"{counted['receiver']:06x}"
    ]
    assert rows[f"{counted['receiver']:06x}"][5:] == ["0", "0", "5", "5000", "0", "-"]
    assert narrow[0] == wide[0][:20].rstrip() and max(map(len, narrow)) <= 20
    assert narrow[3] == f"... and {len(wide) - 3} more"


def test_top_goes_on_without_a_terminal(softhca, counted):
    """Rates are those between two screens: nothing moves."""
    with subprocess.Popen([softhca, "ctl", "top"], stdout=subprocess.PIPE) as top:
        try:
            text = read_until(top.stdout, lambda text: text.count(HEADING.encode()) == 3)
        finally:
            top.kill()
    screens = text.split(HEADING)[1:]
    assert screens[0].splitlines()[1].split()[1:5] == ["-"] * 4
    assert screens[1].splitlines()[1].split()[1:5] == ["0"] * 4


def test_top_ends_with_the_daemon(run, softhca, counted):
    with subprocess.Popen([softhca, "ctl", "top"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as top:
        top.stdout.readline()
        run([softhca, "stop"])
        _, errors = top.communicate(timeout=30)
    assert top.returncode == 1 and "no daemon in" in errors


@pytest.mark.parametrize("words", [["0"], ["x"], ["1", "2"], ["3601"]])
def test_wrong_usage(run, softhca, words):
    done = run([softhca, "ctl", "top", *words])
    assert done.returncode == 2 and "top takes the seconds between two screens" in done.stderr
