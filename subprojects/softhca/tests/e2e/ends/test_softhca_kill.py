# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The daemon frees what a killed client has, whenever the client is killed. A forked child cannot
use its parent's context."""

import os
import platform
import random
import signal
import time

import pytest

from bare_verbs import script
from built import PROGRAMS
from running import kills

pytestmark = pytest.mark.any_model

KILLS = kills(60)
CLIENTS = 16
# The number of the system call clone(2).
CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120}


def start(daemon, *words):
    return daemon.start([PROGRAMS / "softhca-hold", daemon.scratch / "domain", *words], stderr=None)


def kill_all(procs):
    for proc in procs:
        proc.kill()
    for proc in procs:
        said = proc.communicate()[0]
        assert proc.returncode == -signal.SIGKILL, said


def ready(daemon, *words):
    """CLIENTS programs that have created all their objects."""
    procs = [start(daemon, *words) for _ in range(CLIENTS)]
    for proc in procs:
        assert proc.stdout.readline() == "ready\n"
    return procs


def test_killed_clients_leave_nothing(daemon):
    """Kills a random one of 16 clients in traffic, KILLS times, and replaces it. The moment is
    random: during the set-up, or while the client sends. Then kills 16 with 500 QPs each."""
    rng = random.Random(20121121)
    kill_all(ready(daemon))
    daemon.until_empty()
    descriptors, memory = daemon.descriptors(), daemon.memory()
    procs = [start(daemon) for _ in range(CLIENTS)]
    for _ in range(KILLS):
        time.sleep(rng.random() * 0.05)
        victim = rng.randrange(CLIENTS)
        kill_all([procs[victim]])
        procs[victim] = start(daemon)
    kill_all(procs)
    daemon.until_empty()
    daemon.until_given_back(descriptors)
    assert daemon.memory() <= memory + daemon.slack()
    kill_all(ready(daemon, "idle", "500"))
    daemon.until_empty()


def test_parent_and_child_use_a_context_at_the_same_time(run, daemon):
    """The child is made without the handlers of pthread_atfork(). The parent gets all its answers,
    and the child none of them."""
    if platform.machine() not in CLONE:
        pytest.skip("the number of clone(2) is not known here")
    done = run(script(r"""
import os, signal, sys, time
ctx = open_device()
child = ctypes.CDLL(None).syscall(int(sys.argv[1]), signal.SIGCHLD, 0, 0, 0, 0)
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
""", CLONE[platform.machine()]))
    assert done.returncode == 0, done.stderr


def test_forked_child_may_use_the_number_of_an_inherited_context(run, daemon, tmp_path):
    """As a worker does that closes all that it has inherited."""
    done = run(script("""
import os, sys
ctx = open_device()
child = os.fork()
if not child:
    os.closerange(3, 100)
    for number in range(3, 12):
        assert os.open(sys.argv[1], os.O_RDWR | os.O_CREAT) == number
        assert os.write(number, b"log") == 3
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert v.ibv_alloc_pd(ctx)
""", tmp_path / "log"))
    assert done.returncode == 0, done.stderr


def test_the_number_of_a_context_may_be_used_after_dup2(run, daemon, tmp_path):
    done = run(script("""
import os, sys
fd = os.open("/dev/infiniband/uverbs0", os.O_RDWR)
os.dup2(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), fd)
assert os.write(fd, b"written once") == 12
""", tmp_path / "log"))
    assert done.returncode == 0 and (tmp_path / "log").read_text() == "written once", done.stderr


def test_forked_child_cannot_use_an_inherited_context(run, daemon):
    """A child's use of an inherited context fails, its end does not end the parent's, and it opens
    its own. Copies of the descriptors do not keep the context when the parent has ended."""
    done = run(script(r"""
import os, time
ctx = open_device()
child = os.fork()
if not child:
    assert not v.ibv_alloc_pd(ctx) and ctypes.get_errno() == 5
    assert v.ibv_alloc_pd(open_device())
    v.ibv_close_device(ctx)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert v.ibv_alloc_pd(ctx)
keeper = os.fork()
if not keeper:
    os.setsid()
    os.close(1)
    os.close(2)
    time.sleep(60)
    os._exit(0)
print(keeper)
"""))
    assert done.returncode == 0, done.stderr
    daemon.until_empty()
    os.kill(int(done.stdout), 9)
