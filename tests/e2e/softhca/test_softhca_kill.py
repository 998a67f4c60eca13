# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What a client that is killed at any moment leaves in the daemon: nothing. And forks, which are not the client."""

import json
import os
import pathlib
import random
import re
import subprocess
import time

import pytest

import models

PROGRAMS = pathlib.Path(os.environ["SOFTHCA_TEST_PROGRAMS"])
KILLS = int(os.environ.get("SOFTHCA_TEST_KILLS", "60"))
CLIENTS = 16


@pytest.fixture
def daemon(run, softhca, monkeypatch):
    path = pathlib.Path(subprocess.check_output(["mktemp", "-d", "/tmp/softhca-test-XXXXXX"], text=True).strip())
    monkeypatch.setenv("SOFTHCA_DIR", str(path / "d"))
    done = run([softhca, "start"])
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("LD_PRELOAD", str(softhca.parent / "libsofthca.so"))
    yield path
    run([softhca, "stop"])
    subprocess.run(["rm", "-rf", path], check=True)


def objects(run, softhca):
    return json.loads(run([softhca, "ctl", "objects", "--json"]).stdout)


def wait_empty(run, softhca):
    end = time.monotonic() + 30
    while objects(run, softhca)["contexts"] and time.monotonic() < end:
        time.sleep(0.02)
    left = objects(run, softhca)
    assert left["contexts"] == [], left
    for device in left["devices"]:
        assert {device[kind] for kind in ("qps", "cqs", "srqs", "mrs", "pds")} == {0}


def daemon_costs(run, softhca):
    """(open descriptors, resident kilobytes) of the daemon."""
    pid = run([softhca, "status"]).stdout.split("pid ")[1].split(",")[0]
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return len(os.listdir(f"/proc/{pid}/fd")), int(status.split("VmRSS:")[1].split()[0])


def start(daemon, *words):
    return subprocess.Popen([PROGRAMS / "softhca-hold", daemon / "domain", *words], stdout=subprocess.PIPE, text=True)


def test_lists_what_a_process_holds(run, softhca, daemon):
    proc = start(daemon, "idle")
    assert proc.stdout.readline() == "ready\n"
    contexts = objects(run, softhca)["contexts"]
    assert [c["device"] for c in contexts] == [models.device(0), models.device(1)]
    assert {c["pid"] for c in contexts} == {proc.pid}
    kinds = sorted(o["type"] for o in contexts[0]["objects"])
    assert kinds == ["cq", "mr", "pd", "qp", "qp", "srq", "xrcd"]
    target = next(o for o in contexts[0]["objects"] if o.get("qp_type") == "XRC_RECV")
    assert bool(target["number"] & 0x800000) == (models.driver() == "mlx4") and target["handles"] == 1 and target["state"] == "RESET"
    assert next(o for o in contexts[0]["objects"] if o["type"] == "xrcd")["inode"] == os.stat(daemon / "domain").st_ino
    proc.kill()
    proc.wait()
    wait_empty(run, softhca)


def kill_all(procs):
    for proc in procs:
        proc.kill()
    for proc in procs:
        proc.wait()
        proc.stdout.close()


def slack(softhca):
    """Kilobytes that may stay with the daemon's allocator. Sanitizers keep up to 256 MiB of what was freed."""
    return 300 << 10 if re.search(rb"__[at]san_init", softhca.read_bytes()) else 1024


def test_killed_clients_leave_nothing(run, softhca, daemon):
    """16 clients in traffic, one of them killed at any moment and replaced: while it sets up, sends, or others do."""
    rng = random.Random(20121121)
    procs = [start(daemon) for _ in range(CLIENTS)]
    for proc in procs:
        assert proc.stdout.readline() == "ready\n"
    kill_all(procs)
    wait_empty(run, softhca)
    before = daemon_costs(run, softhca)
    procs = [start(daemon) for _ in range(CLIENTS)]
    for _ in range(KILLS):
        time.sleep(rng.random() * 0.05)
        victim = rng.randrange(CLIENTS)
        kill_all([procs[victim]])
        procs[victim] = start(daemon)
    kill_all(procs)
    wait_empty(run, softhca)
    # A busy daemon takes its time to close the connection of whoever asked it last.
    end = time.monotonic() + 10
    while (after := daemon_costs(run, softhca))[0] > before[0] and time.monotonic() < end:
        time.sleep(0.1)
    print(f"{KILLS} kills: descriptors {before[0]} -> {after[0]}, resident KiB {before[1]} -> {after[1]}")
    assert after[0] == before[0]
    assert after[1] <= before[1] + slack(softhca)


def test_many_clients_with_many_qps(run, softhca, daemon):
    """64 processes, 1,000 QPs in each of 8 of them; whoever comes then is served, and all of it goes again."""
    procs = [start(daemon, "idle", *(["1000"] if i % 8 == 0 else [])) for i in range(64)]
    for proc in procs:
        assert proc.stdout.readline() == "ready\n"
    listed = objects(run, softhca)
    assert len({c["pid"] for c in listed["contexts"]}) == 64
    assert listed["devices"][0]["qps"] == 8 * 1000 + 2 * 64
    newcomer = start(daemon)
    assert newcomer.stdout.readline() == "ready\n"
    sent = lambda: sum(o["completions"] for c in objects(run, softhca)["contexts"] if c["pid"] == newcomer.pid
                       for o in c["objects"] if o["type"] == "cq")
    end = time.monotonic() + 30
    while sent() < 10 and time.monotonic() < end:
        time.sleep(0.02)
    assert sent() >= 10
    kill_all([*procs, newcomer])
    wait_empty(run, softhca)


@pytest.mark.parametrize("how", ["fork", "without handlers"])
def test_fork_at_the_same_time(run, softhca, daemon, how):
    """Parent and child use the context at the same time: the parent has its answers, the child has none of them."""
    script = r"""
import ctypes, os, sys, time
v = ctypes.CDLL("libibverbs.so.1", use_errno=True)
v.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
v.ibv_open_device.restype = v.ibv_alloc_pd.restype = ctypes.c_void_p
v.ibv_open_device.argtypes = v.ibv_alloc_pd.argtypes = v.ibv_dealloc_pd.argtypes = [ctypes.c_void_p]
ctx = v.ibv_open_device(v.ibv_get_device_list(None)[0])
child = os.fork() if sys.argv[1] == "fork" else ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0)  # clone, SIGCHLD
end = time.monotonic() + 0.5
while time.monotonic() < end:
    pd = v.ibv_alloc_pd(ctx)
    if child:
        assert pd and v.ibv_dealloc_pd(pd) == 0
    elif pd or ctypes.get_errno() != 5:
        os._exit(1)
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    done = run(["/usr/bin/python3", "-c", script, how])
    assert done.returncode == 0, done.stderr


def test_fork_neither_uses_nor_hurts(run, softhca, daemon):
    """A child's use of an inherited context fails, its end does not end the parent's, and it opens its own."""
    script = r"""
import ctypes, os
v = ctypes.CDLL("libibverbs.so.1", use_errno=True)
for f in ("ibv_get_device_list", "ibv_open_device", "ibv_alloc_pd"):
    getattr(v, f).restype = ctypes.c_void_p
v.ibv_open_device.argtypes = v.ibv_alloc_pd.argtypes = v.ibv_close_device.argtypes = [ctypes.c_void_p]
def open_one():
    devices = ctypes.cast(v.ibv_get_device_list(None), ctypes.POINTER(ctypes.c_void_p))
    return v.ibv_open_device(devices[0])
ctx = open_one()
assert ctx and v.ibv_alloc_pd(ctx)
child = os.fork()
if not child:
    assert not v.ibv_alloc_pd(ctx) and ctypes.get_errno() == 5
    own = open_one()
    assert own and v.ibv_alloc_pd(own)
    v.ibv_close_device(ctx)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert v.ibv_alloc_pd(ctx)
keeper = os.fork()
if not keeper:
    os.setsid()
    os.close(1)
    os.close(2)
    import time
    time.sleep(20)
    os._exit(0)
print(keeper)
"""
    done = run(["/usr/bin/python3", "-c", script])
    assert done.returncode == 0, done.stderr
    # The parent is gone; a child of it that holds copies of all its descriptors does not keep the context.
    wait_empty(run, softhca)
    os.kill(int(done.stdout), 9)
