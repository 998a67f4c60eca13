# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs whose daemon is killed: they are told, once, and none waits for ever."""

import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

import models

PROGRAMS = pathlib.Path(os.environ["SOFTHCA_TEST_PROGRAMS"])
SENTENCE = "softhca: the daemon has ended, and with it the adapters of this program"
ports = itertools.count(16000 + os.getpid() % 100 * 20)  # below the ports that the system hands out


@pytest.fixture
def daemon(run, softhca, monkeypatch):
    """The daemon's pid; what is started uses it."""
    path = pathlib.Path(subprocess.check_output(["mktemp", "-d", "/tmp/softhca-test-XXXXXX"], text=True).strip())
    monkeypatch.setenv("SOFTHCA_DIR", str(path / "d"))
    done = run([softhca, "start"])
    assert done.returncode == 0, done.stderr
    pid = int(run([softhca, "status"]).stdout.split("pid ")[1].split(",")[0])
    monkeypatch.setenv("LD_PRELOAD", str(softhca.parent / "libsofthca.so"))
    yield pid
    monkeypatch.delenv("LD_PRELOAD")
    run([softhca, "stop"])
    subprocess.run(["rm", "-rf", path], check=True)


def start(*argv):
    return subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def listens(port):
    return any(f":{port:04X} 00000000" in line and " 0A " in line
               for table in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines())


def wait_for(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def connected(run, softhca):
    text = run([softhca, "ctl", "objects"], env={"LD_PRELOAD": ""}).stdout
    return "state=RTS" in text and sum("state=RT" in line for line in text.splitlines()) >= 2


@pytest.mark.parametrize("argv", [
    ["ibv_rc_pingpong", "-n", "100000000"], ["ibv_ud_pingpong", "-n", "100000000"], ["ibv_rc_pingpong", "-n", "100000000", "-e"],
    ["ib_send_bw", "-F", "-D", "30"]], ids=lambda argv: "-".join([argv[0], *argv[3:]]))
def test_programs_end(run, softhca, daemon, argv):
    if not shutil.which(argv[0]):
        pytest.skip(f"{argv[0]} is not installed")
    port = next(ports)
    server = start(*argv, "-d", models.device(0), "-p", port)
    wait_for(lambda: listens(port))
    client = start(*argv, "-d", models.device(1), "-p", port, "127.0.0.1")
    wait_for(lambda: connected(run, softhca))
    time.sleep(0.1)
    os.kill(daemon, signal.SIGKILL)
    began = time.monotonic()
    for program in (server, client):
        _, err = program.communicate(timeout=10)
        print(f"{argv[0]}: {1000 * (time.monotonic() - began):.0f} ms, status {program.returncode}, {err}")
        assert program.returncode != 0
        assert err.count(SENTENCE) <= 1 and ("-e" in argv or SENTENCE in err)


def test_what_was_completed_is_still_there(run, softhca, daemon):
    done = run([PROGRAMS / "softhca-orphan"], env={"ORPHAN_DAEMON": str(daemon)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count(SENTENCE) == 1


def test_a_forked_child_is_told_too(run, softhca, daemon):
    """The thread that waits is the parent's; a child that opens devices has one of its own."""
    script = r"""
import ctypes, os, signal, sys, time
v = ctypes.CDLL("libibverbs.so.1")
v.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
v.ibv_open_device.restype = ctypes.c_void_p
v.ibv_open_device.argtypes = [ctypes.c_void_p]
def open_one():
    assert v.ibv_open_device(v.ibv_get_device_list(None)[0])
open_one()
child = os.fork()
open_one()
time.sleep(0.3)
if child:
    os.kill(int(sys.argv[1]), signal.SIGKILL)
time.sleep(0.5)
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    done = run(["/usr/bin/python3", "-c", script, daemon])
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(SENTENCE) == 2


def test_a_program_that_closes_every_descriptor_does_not_spin(run, softhca, daemon):
    """What the waiting thread waits on is one of them."""
    script = r"""
import ctypes, os, signal, sys, time
v = ctypes.CDLL("libibverbs.so.1")
v.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
v.ibv_open_device.restype = ctypes.c_void_p
v.ibv_open_device.argtypes = [ctypes.c_void_p]
assert v.ibv_open_device(v.ibv_get_device_list(None)[0])
waits_on = [fd for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")
            and "eventpoll" in os.readlink(f"/proc/self/fd/{fd}")]
assert waits_on
for fd in waits_on:
    os.close(int(fd))
os.kill(int(sys.argv[1]), signal.SIGKILL)
time.sleep(0.2)
before = time.process_time()
time.sleep(1)
assert time.process_time() - before < 0.3
"""
    done = run(["/usr/bin/python3", "-c", script, daemon])
    assert done.returncode == 0, done.stderr
