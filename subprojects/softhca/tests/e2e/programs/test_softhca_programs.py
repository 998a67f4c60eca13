# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The distribution's own programs, unmodified. SOFTHCA_TEST_REPEAT (default 1) says how often each
must pass in a row."""

import os
import pathlib
import re
import resource

import pytest

import models
from installed import need, need_domain_files
from pairs import LISTENING
from running import REPEAT, free_port

# 150 exchanges fill each ring of 50 three times. The default is 1,000, and in ibv_srq_pingpong
# 1,000 for each of 16 QPs.
SHORT = ["-r", "50", "-n", "150"]
PINGPONGS = {
    "ibv_rc_pingpong": SHORT, "ibv_uc_pingpong": SHORT, "ibv_ud_pingpong": SHORT,
    "ibv_srq_pingpong": [*SHORT, "-q", "4"], "ibv_xsrq_pingpong": []
}


@pytest.mark.parametrize("program, mode", [
    *((program, mode) for program in PINGPONGS for mode in ("", "-e")),
    *((program, "-c") for program in PINGPONGS if program != "ibv_xsrq_pingpong"),
])
def test_pingpong(pair, program, mode):
    """Polls the CQ, waits for its events (-e), or compares each message (-c)."""
    for _ in range(REPEAT):
        pair([program, *PINGPONGS[program], *mode.split()])


@pytest.mark.any_model
@pytest.mark.parametrize("program", PINGPONGS)
def test_pingpong_within_a_device_without_arena(pair, program):
    pair([program, *PINGPONGS[program], "-e"], devices=(0, 0), settings=["--arena=off"])


def clocks(out):
    """For both programs: the time of an exchange by the adapter's clock, which stamps the
    completions, divided by the time by the machine's clock."""
    khz = {"mlx4": 427000, "mlx5": 78125}[models.driver()]
    average = re.findall(r"Average receive completion clock cycles = ([\d.]+)", out)
    each = re.findall(r"([\d.]+) usec/iter", out)
    assert len(average) == len(each) == 2
    return [float(cycles) / khz * 1000 / float(time) for cycles, time in zip(average, each)]


def test_time_stamps(pair):
    """Time stamps of completions advance as the clock does. The measurement is repeated, three
    times at most, if a program was delayed before its first or after its last completion."""
    for _ in range(4):
        ratios = clocks(pair(["ibv_rc_pingpong", "-t"]))
        if all(0.5 < ratio < 1.5 for ratio in ratios):
            return
    raise AssertionError(ratios)


@pytest.mark.any_model
def test_several_clients_share_a_domain(below):
    """Three clients, one server: each has its own XRC connection to one SRQ."""
    need("ibv_xsrq_pingpong")
    need_domain_files()
    script = LISTENING + r"""
    port=$1
    ibv_xsrq_pingpong -d mlx4_0 -p $port -c 3 & server=$!
    listening $port $server || exit
    for i in 1 2 3; do ibv_xsrq_pingpong -d mlx4_1 -p $port -c 3 127.0.0.1 & clients="$clients $!"; done
    for pid in $clients $server; do wait $pid || exit 1; done
    """
    below([], "bash", "-c", models.named(script), "several", free_port())


# -C: times in cycles. To tell microseconds, the programs first poll the clock for 0.2 s.
@pytest.mark.parametrize("words", [
    "ib_send_lat -C -c XRC -n 200", "ib_send_lat -C -c XRC -n 200 -e",
    "ib_send_lat -C -c XRC -n 200 -I 200 -s 128", "ib_send_bw -c UD -n 500",
    "ib_send_bw -n 500 --use-srq -q 4", "ib_write_bw -c XRC -n 150 -q 4",
    "ib_write_lat -C -n 200 -I 64 -s 64", "ib_read_bw -c XRC -n 200", "ib_atomic_bw -c XRC -n 200",
    "ib_read_lat -C -n 100", "ib_atomic_lat -C -n 100"
])
def test_perftest(pair, words):
    pair([*words.split(), "-F"])


def test_programs_that_poll_share_a_processor(pair):
    """A poll that finds nothing lets the others run. Without this, each message of a program that
    polls takes the rest of its time slice, 2 ms. Processor time does not depend on other load."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    mine = os.sched_getaffinity(0)
    before = used()
    os.sched_setaffinity(0, {min(mine)})
    try:
        pair("ib_send_lat -C -n 3000 -F".split())
    finally:
        os.sched_setaffinity(0, mine)
    assert used() - before < 4


def test_devinfo(below):
    need("ibv_devinfo")
    done = below(["--devices=3", "--ports=2"], "ibv_devinfo", "-v", "-d", models.device(2))
    assert f"hca_id:\t{models.device(2)}" in done.stdout and "\tXRC\n" in done.stdout
    assert len(re.findall(r"state:\s+PORT_ACTIVE", done.stdout)) == 2
    assert re.search(r"GID\[\s*0\]:\s+fe80:", done.stdout)


# Programs linked with a glibc before 2.33 call stat() by these names.
OLD_STAT = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
there, nowhere = b"/sys/class/infiniband_verbs/abi_version", b"/sys/class/infiniband_verbs/nothing"
for name in "__xstat", "__lxstat", "__xstat64", "__lxstat64":
    old, room = getattr(libc, name), ctypes.create_string_buffer(1024)
    assert old(1, there, room) == 0 and any(room.raw), name
    assert old(1, nowhere, room) == -1 and ctypes.get_errno() == 2, name
for name in "__fxstat", "__fxstat64":
    old, room = getattr(libc, name), ctypes.create_string_buffer(1024)
    with open("/dev/infiniband/uverbs0", "r+b", buffering=0) as file:
        assert old(1, file.fileno(), room) == 0 and any(room.raw), name
"""


@pytest.mark.any_model
def test_stat_before_glibc_2_33(below):
    below([], "/usr/bin/python3", "-c", OLD_STAT)


def field(text, name):
    return re.findall(rf"^\s*{name}:\s+(.*)$", text, re.M)


def numbers(text, name):
    return [int(value.replace(":", ""), 16) for value in field(text, name)]


def test_ibstat_and_libibverbs_agree(below):
    """libibumad reads /sys/class/infiniband itself."""
    need("ibstat")
    done = below(["--devices=2"], "sh", "-c", "ibstat && echo == && ibv_devinfo -v")
    assert done.stderr == ""
    umad, verbs = done.stdout.split("==\n")
    assert re.findall(r"^CA '(\w+)'$", umad, re.M) == [models.device(0), models.device(1)]
    assert field(umad, "CA type") == [{"mlx4": "MT4099", "mlx5": "MT4119"}[models.driver()]] * 2
    assert field(umad, "State") == ["Active"] * 2
    assert field(umad, "Physical state") == ["LinkUp"] * 2
    for theirs, ours in (("Firmware version", "fw_ver"), ("Base lid", "port_lid"),
                         ("SM lid", "sm_lid")):
        assert field(umad, theirs) == field(verbs, ours)
    for theirs, ours in (("Capability mask", "port_cap_flags"), ("Node GUID", "node_guid"),
                         ("System image GUID", "sys_image_guid")):
        assert numbers(umad, theirs) == numbers(verbs, ours)


@pytest.mark.any_model
def test_lsmod_lists_the_modules_of_such_an_adapter(below):
    """HP-MPI and Platform MPI take no InfiniBand adapter without the module ib_core. The machine's
    own modules stay in the list."""
    need("lsmod")
    done = below([], "lsmod")
    assert (done.returncode, done.stderr) == (0, "")
    heading, *lines = done.stdout.splitlines()
    assert heading.split() == ["Module", "Size", "Used", "by"]
    used = {line.split()[0]: set((line.split() + [""])[3].split(",")) - {""} for line in lines}
    driver = models.driver()
    assert used.keys() >= {f"{driver}_ib", f"{driver}_core", "ib_core", "ib_uverbs", "ib_umad",
                           "rdma_cm", "rdma_ucm"}
    assert used[f"{driver}_core"] >= {f"{driver}_ib"} and used["rdma_cm"] >= {"rdma_ucm"}
    assert used["ib_core"] >= {f"{driver}_ib", "ib_uverbs", "ib_umad", "rdma_cm"}
    own = pathlib.Path("/proc/modules")
    assert not own.exists() or {line.split()[0] for line in own.open()} <= used.keys()


@pytest.mark.parametrize("command", ["cat /proc/modules", "grep ^ /proc/modules",
                                     "test -r /proc/modules && cat < /proc/modules"])
@pytest.mark.any_model
def test_proc_modules_is_that_of_the_adapter(below, command):
    done = below([], "sh", "-c", command)
    assert re.search(r"^ib_core \d+ 7 (\w+,){7} Live 0x0{16}$", done.stdout, re.M), done


def test_ibstatus(below):
    """A shell script, which enters /sys/class/infiniband and reads what is there."""
    need("ibstatus")
    done = below(["--devices=2"], "ibstatus")
    assert done.stderr == "" and "unknown" not in done.stdout
    assert re.findall(r"device '(\w+)' port (\d)", done.stdout) == [(models.device(0), "1"),
                                                                    (models.device(1), "1")]
    assert field(done.stdout, "state") == ["4: ACTIVE"] * 2


# Settings of rings and doorbells that libmlx5 has and libmlx4 has not.
OF_LIBMLX5 = """MLX5_CQE_SIZE=128 MLX5_SHUT_UP_BF=1 MLX5_SINGLE_THREADED=1 MLX5_SCATTER_TO_CQE=0
MLX5_POST_SEND_PREFER_BF=0 MLX5_STALL_CQ_POLL=1 MLX5_TOTAL_UUARS=64 MLX_QP_ALLOC_TYPE=ANON
MLX_CQ_ALLOC_TYPE=ANON MLX_SRQ_ALLOC_TYPE=ANON MLX_QP_ALLOC_TYPE=PREFER_HUGE""".split()


@pytest.mark.on_model("connectx5")
@pytest.mark.parametrize("setting", OF_LIBMLX5)
def test_settings_of_libmlx5(pair, monkeypatch, setting):
    monkeypatch.setenv(*setting.split("="))
    pair(["ibv_rc_pingpong", *SHORT, "-c"])
    pair(["ib_send_bw", "-F", "-c", "XRC", "-q", "4", "-n", "150", "-t", "32", "-s", "32", "-I",
          "100"])
