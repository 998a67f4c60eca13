# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""
UCX and the MPI libraries over it. They put themselves in the place of mmap() to watch the program's
memory, so that a mapping of the device reaches its descriptor by a system call and not through the
preload.
"""

import os
import pathlib
import re
import subprocess

import pytest

import models
from built import PROGRAMS
from installed import need
from running import free_port
from servers import LISTENING

SOURCES = pathlib.Path(__file__).parent

# MPI refuses to start as root, as in containers, or with more ranks than processors, unless these
# are set.
OPEN_MPI = [
    "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ucx", "--mca",
    "osc", "^ucx", "-x", "LD_PRELOAD", "-x", "UCX_TLS"
]
LAUNCHERS = {"mpich": ["mpiexec.mpich"], "openmpi": OPEN_MPI}


def transports(text, device):
    block = text.split(f"Memory domain: {device}\n")[1].split("Memory domain")[0]
    return re.findall(r"Transport: (\w+)", block)


# Not "reloc": there UCX 1.13 waits for itself in ucm_dlmalloc().
@pytest.mark.any_model
@pytest.mark.parametrize("hooks", ["bistro", "none"])
def test_ucx_info(run, softhca, monkeypatch, hooks):
    """The devices open whether UCX overwrites mmap() or not."""
    need("ucx_info")
    monkeypatch.setenv("UCX_MEM_MMAP_HOOK_MODE", hooks)
    done = run([softhca, "run", "--", "ucx_info", "-d"])
    assert done.returncode == 0 and "failed to open" not in done.stdout, done.stdout + done.stderr
    for index in (0, 1):
        assert transports(done.stdout, models.device(index)) == ["rc_verbs", "ud_verbs"]


PERFTEST = LISTENING + r"""
export UCX_TLS=$1; port=$2 ours=$3 theirs=$4; shift 4
UCX_NET_DEVICES=$theirs:1 ucx_perftest -p $port "$@" & server=$!
listening $port $server || exit
UCX_NET_DEVICES=$ours:1 ucx_perftest -p $port "$@" 127.0.0.1 && wait $server
"""


# rc_v is rc_verbs, with ud_verbs to connect it. UCX makes one-sided operations of messages.
@pytest.mark.parametrize("transport, test, size", [("rc_v", "tag_lat", 64),
                                                   ("rc_v", "tag_bw", 100000),
                                                   ("rc_v", "ucp_put_bw", 5000),
                                                   ("rc_v", "ucp_get", 5000),
                                                   ("rc_v", "ucp_fadd", 8), ("ud_v", "tag_lat", 64),
                                                   ("ud_v", "tag_bw", 100000)])
def test_ucx_perftest(run, softhca, transport, test, size):
    need("ucx_perftest")
    done = run([
        softhca, "run", "--", "bash", "-c", PERFTEST, "perftest", transport,
        free_port(),
        models.device(0),
        models.device(1), "-n", "100", "-w", "10", "-t", test, "-s", size
    ], timeout=40)
    assert done.returncode == 0 and "Final:" in done.stdout, done.stdout + done.stderr
    assert "ERROR" not in done.stdout + done.stderr


@pytest.fixture(scope="module")
def mpi_program(tmp_path_factory):
    def build(flavour):
        need(f"mpicc.{flavour}", LAUNCHERS[flavour][0])
        program = tmp_path_factory.getbasetemp() / f"ring-{flavour}"
        if not program.exists():
            subprocess.run([f"mpicc.{flavour}", "-O1", "-o", program, SOURCES / "ring_of_ranks.c"],
                           check=True)
        return program
    return build


@pytest.mark.any_model
@pytest.mark.parametrize("transport", ["rc_v,self", "ud_v,self"])
@pytest.mark.parametrize("flavour", LAUNCHERS)
def test_mpi(run, softhca, monkeypatch, mpi_program, flavour, transport):
    """Several runs in a row, because faults of the connection show only now and then."""
    monkeypatch.setenv("UCX_TLS", transport)
    for _ in range(2):
        done = run([softhca, "run", "--", *LAUNCHERS[flavour], "-n", "2",
                    mpi_program(flavour)], timeout=40)
        assert done.returncode == 0 and "2 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.fixture
def roce(softhca, monkeypatch):
    """UCX 1.13 knows datagrams of RoCE v2 by the service level of their completion, and a
    ConnectX-3 says nothing there."""
    if models.model() == "connectx3":
        monkeypatch.setenv("UCX_IB_GID_INDEX", "2")
    return [softhca, "run", "--link=ethernet", "--"]


@pytest.mark.parametrize("transport, test, size", [("rc_v", "tag_lat", 64),
                                                   ("rc_v", "ucp_put_bw", 5000),
                                                   ("ud_v", "tag_bw", 100000)])
def test_ucx_perftest_over_roce(run, roce, transport, test, size):
    need("ucx_perftest")
    done = run([
        *roce, "bash", "-c", PERFTEST, "perftest", transport,
        free_port(),
        models.device(0),
        models.device(1), "-n", "100", "-w", "10", "-t", test, "-s", size
    ], timeout=40)
    assert done.returncode == 0 and "Final:" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("flavour", LAUNCHERS)
def test_mpi_over_roce(run, roce, monkeypatch, mpi_program, flavour):
    monkeypatch.setenv("UCX_TLS", "rc_v,self")
    done = run([*roce, *LAUNCHERS[flavour], "-n", "2", mpi_program(flavour)], timeout=40)
    assert done.returncode == 0 and "2 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.any_model
def test_openings_share_their_locks(run, softhca):
    """Two openings of a device have a doorbell page each. For flock() they are one file."""
    script = r"""
import fcntl, os, stat
a, b, other = (os.open(f"/dev/infiniband/uverbs{i}", os.O_RDWR) for i in (0, 0, 1))
assert stat.S_ISCHR(os.fstat(a).st_mode) and os.fstat(a).st_rdev == os.stat("/dev/infiniband/uverbs0").st_rdev
fcntl.flock(a, fcntl.LOCK_EX)
try:
    fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
    raise SystemExit("two hold the lock")
except BlockingIOError:
    pass
fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.close(a)
fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
"""
    done = run([softhca, "run", "--", "/usr/bin/python3", "-c", script])
    assert done.returncode == 0, done.stderr
