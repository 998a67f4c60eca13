# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""
UCX and the MPI libraries over it. They put themselves in the place of mmap() to watch the program's
memory, so that a mapping of the device reaches its descriptor by a system call and not through the
preload.
"""

import re

import pytest

import models
from built import OPEN_MPI
from installed import need
from pairs import LISTENING
from running import free_port

LAUNCHERS = {"mpich": ["mpiexec.mpich"], "openmpi": OPEN_MPI}


@pytest.fixture(autouse=True)
def no_filled_memory(monkeypatch):
    """`meson test` has malloc() fill each block. UCX allocates 70 MB a process and uses few of
    them."""
    monkeypatch.setenv("MALLOC_PERTURB_", "0")


def transports(text, device):
    block = text.split(f"Memory domain: {device}\n")[1].split("Memory domain")[0]
    return re.findall(r"Transport: (\w+)", block)


# Not "reloc": there UCX 1.13 waits for itself in ucm_dlmalloc().
@pytest.mark.any_model
@pytest.mark.parametrize("hooks", ["bistro", "none"])
def test_ucx_info(below, hooks):
    """The devices open whether UCX overwrites mmap() or not."""
    need("ucx_info")
    done = below([], "ucx_info", "-d", env={"UCX_MEM_MMAP_HOOK_MODE": hooks})
    assert "failed to open" not in done.stdout, done
    for index in (0, 1):
        assert {"rc_verbs", "ud_verbs"} <= set(transports(done.stdout, models.device(index)))


@pytest.mark.on_model("connectx5")
def test_ucx_lists_no_dc(below):
    """The limit in softhca(1). UCX 1.13 lists rc_mlx5 and ud_mlx5, too."""
    need("ucx_info")
    listed = transports(below([], "ucx_info", "-d").stdout, models.device(0))
    assert "rc_verbs" in listed and not [name for name in listed if name.startswith("dc_")]


PERFTEST = LISTENING + r"""
export UCX_TLS=$1; port=$2 ours=$3 theirs=$4; shift 4
UCX_NET_DEVICES=$theirs:1 ucx_perftest -p $port "$@" & server=$!
listening $port $server || exit
UCX_NET_DEVICES=$ours:1 ucx_perftest -p $port "$@" 127.0.0.1 && wait $server
"""


# rc_v is rc_verbs, with ud_verbs to connect it. UCX makes one-sided operations of messages.
@pytest.mark.parametrize("link, transport, test, size", [
    ("--link=infiniband", "rc_v", "tag_lat", 64), ("--link=ethernet", "rc_v", "tag_bw", 100000),
    ("--link=infiniband", "rc_v", "ucp_put_bw", 5000), ("--link=ethernet", "rc_v", "ucp_fadd", 8),
    ("--link=infiniband", "ud_v", "tag_bw", 100000), ("--link=ethernet", "ud_v", "tag_lat", 64)
])
def test_ucx_perftest(below, link, transport, test, size):
    need("ucx_perftest")
    done = below([link], "bash", "-c", PERFTEST, "perftest", transport, free_port(),
                 models.device(0), models.device(1), "-n", "100", "-w", "10", "-t", test, "-s", size)
    assert "Final:" in done.stdout and "ERROR" not in done.stdout + done.stderr, done


@pytest.mark.parametrize("link, transport, flavour", [
    ("--link=infiniband", "rc_v,self", "openmpi"), ("--link=infiniband", "ud_v,self", "mpich"),
    ("--link=ethernet", "rc_v,self", "mpich"), ("--link=ethernet", "ud_v,self", "openmpi")
])
def test_mpi(below, mpi_program, link, flavour, transport):
    """Two ranks. Each link meets each transport and each MPI. Runs twice, because faults of the
    connection show only now and then."""
    need(LAUNCHERS[flavour][0])
    for _ in range(2):
        done = below([link], *LAUNCHERS[flavour], "-n", "2", mpi_program(flavour),
                     env={"UCX_TLS": transport})
        assert "2 ranks, 0 wrong" in done.stdout, done


@pytest.mark.any_model
def test_openings_share_their_locks(below):
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
    below([], "/usr/bin/python3", "-c", script)
