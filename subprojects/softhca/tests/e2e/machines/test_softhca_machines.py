# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs on two and four machines: what arrives, and who shares a daemon."""

import ctypes
import os
import pathlib
import re

import pytest

import models
from built import PROGRAMS
from capturing import capturing, wireshark_agrees
from emulator import HERE
from installed import need, need_domain_files, rdma_core_release
from machines import across, start_daemons
from streams import rows
from waiting import wait_for

links = pytest.mark.parametrize("settings", [[], ["--link=ethernet"]],
                                ids=["infiniband", "ethernet"])


def of_verbs(machines, words, port=18515, index=0):
    """A program of ibverbs-utils or perftest, whose client takes the server's name."""
    one, two = machines
    gid = ["-g" if words[0].startswith("ibv_") else "-x", index]
    words = [*words, "-d", models.device(0), "-p", port, *(gid if one.ethernet else [])]
    return across(one, two, words, [*words, one.address], lambda: one.wait_for_listener(port))


@links
def test_programs_over_verbs(machines, settings):
    need("ibv_rc_pingpong", "ibv_xsrq_pingpong")
    need_domain_files()
    for words in ("ibv_rc_pingpong -c -n 200", "ibv_rc_pingpong -c -s 1048576 -n 20",
                  "ibv_uc_pingpong -n 100", "ibv_ud_pingpong -c -n 100 -s 1024",
                  "ibv_srq_pingpong -c -n 100 -q 4", "ibv_rc_pingpong -e -n 100"):
        of_verbs(machines, words.split())
    if not settings:
        of_verbs(machines, ["ibv_xsrq_pingpong"])


def test_daemons_stay_small(machines):
    """Buffers as long as a frame, which libfabric would touch, take 140 MB (carrier.c)."""
    if ctypes.CDLL("libfabric.so.1").fi_version() < (1 << 16 | 13):
        pytest.skip("libfabric before 1.13 has only buffers as long as a frame")
    if os.path.exists("/sys/class/infiniband"):
        pytest.skip("libfabric has such buffers for RDMA devices")
    for machine in machines:
        assert machine.memory() < (64 << 10) + machine.slack(0)


@links
def test_perftest(machines):
    need("ib_write_bw")
    need_domain_files()
    for words in ("ib_write_bw -n 100", "ib_read_bw -n 100 -q 2", "ib_atomic_bw -n 100",
                  "ib_send_lat -c XRC -n 100", "ib_send_bw -c UD -n 200"):
        of_verbs(machines, [*words.split(), "-F"])


def test_qperf(machines):
    need("qperf")
    one, two = machines
    tests = "rc_lat rc_bw rc_rdma_read_bw rc_compare_swap_mr ud_lat uc_bw".split()
    with one.started(["qperf"]):
        one.wait_for_listener(19765)
        said = two.must("qperf", one.address, "-t", "1", *tests, timeout=60)
    assert [name for name in tests if f"{name}:" in said] == tests, said
    assert not re.search(r"= +0 |failed", said), said


def is_member(objects):
    return any(o.get("groups") for c in objects["contexts"] for o in c["objects"])


@links
def test_programs_over_rdma_cm(machines):
    need("rping", "ucmatose", "udaddy", "mckey", "cmtime", "rdma_client")
    one, two = machines
    for serve, ask in (("rping -s -C 20 -V -S 4000", f"rping -c -a {HERE} -C 20 -V -S 4000"),
                       # Both ends may disconnect at the same time.
                       *10 * [("rdma_server", f"rdma_client -s {HERE}")],
                       ("ucmatose -c 4 -C 20", f"ucmatose -c 4 -C 20 -s {HERE}"),
                       ("udaddy -c 2", f"udaddy -c 2 -s {HERE}")):
        across(one, two, serve.split(), ask.split(), one.until_listening)
    if rdma_core_release() < 52:  # later ones use TCP, too; the server stays
        with one.started(["cmtime", "-c", "20"]):
            one.until_listening()
            two.must("cmtime", "-c", "20", "-s", HERE)
    group = "mckey -m 239.7.7.7 -C 10".split()
    across(one, two, group, [*group, "-s"], lambda: one.until(is_member, "member"))


def test_what_arrives(machines):
    """across.c, on each machine the same rows at the same time."""
    one, two = machines
    program = [PROGRAMS / "softhca-across", "usual"]
    said = across(one, two, program, program, env={"ACROSS_SERVER": one.address})
    assert said.count("ok ") == 2 * 9, said


def test_a_capture_has_the_packets_of_a_far_sender(machines):
    one, two = machines
    need("ibv_rc_pingpong", "tshark")
    with capturing(one) as recording:
        of_verbs(machines, "ibv_rc_pingpong -c -n 10".split())
    assert wireshark_agrees(recording) >= 40
    assert len({(p.slid, p.dlid) for p in recording.capture.packets}) == 2


@pytest.mark.parametrize("name", ["ibv_rc_pingpong", "ibv_uc_pingpong"])
def test_a_capture_has_the_addresses_of_a_far_sender_by_roce(build, name):
    """By RoCE v1; and on a ConnectX-5 by RoCE v2, over IPv4 and IPv6."""
    need(name, "tshark")
    one, _ = machines = build(2)
    start_daemons(machines, "--link=ethernet")
    indexes, protocols = (range(2, 6), 3) if models.model() == "connectx5" else ([2], 1)
    seen = set()
    for index in indexes:
        with capturing(one) as recording:
            of_verbs(machines, [name, "-n", "10"], index=index)
        assert wireshark_agrees(recording) >= 20
        packets = recording.capture.packets
        assert {p.dmac for p in packets} == {p.smac for p in packets}
        [protocol] = {p.protocol for p in packets}
        assert len({p.dmac for p in packets}) == 2
        seen.add(protocol)
    assert len(seen) == protocols


def test_a_capture_has_the_datagrams_of_both_machines(machines):
    need("ibv_ud_pingpong")
    for machine in machines:
        with capturing(machine) as recording:
            of_verbs(machines, "ibv_ud_pingpong -n 10".split())
        packets = recording.capture.packets
        lids = {packet.slid for packet in packets}
        assert len(lids) == 2
        for lid in lids:
            psns = [packet.psn for packet in packets if packet.slid == lid]
            assert psns == [psns[0] + i & 0xffffff for i in range(10)]


def test_a_capture_has_the_datagrams_of_a_group(machines):
    """The receiver's machine counts them as the sender's does."""
    need("mckey")
    group = "mckey -m 239.7.7.7 -C 10".split()
    one, two = machines
    with capturing(one) as heard, capturing(two) as said:
        across(one, two, group, [*group, "-s"], lambda: one.until(is_member, "member"))
    numbers = [[packet.psn for packet in recording.capture.packets if packet.dlid >= 0xc000]
               for recording in (heard, said)]
    assert len(numbers[0]) == 10 and numbers[0] == numbers[1]


@pytest.mark.any_model
def test_four_machines(build):
    """By addresses, and by the name of a machine that has it for a loopback address, too."""
    made = build(4)
    list_ = made[0].network.list
    list_.write_text(list_.read_text().replace("10.77.0.2", "m1"))
    start_daemons(made, "--devices=1")
    program = PROGRAMS / "softhca-across"
    for one, two in ((made[0], made[3]), (made[2], made[1])):
        across(one, two, [program, "once"], [program, "once"], env={"ACROSS_SERVER": one.address})


@pytest.mark.any_model
@pytest.mark.parametrize("kind", ["IPv6", "any address can be bound"])
def test_machines_find_themselves(build, kind):
    need("ibv_rc_pingpong", "sysctl")
    one, _ = machines = build(2)
    for machine in machines:
        if kind == "IPv6":
            machine.ip("-6", "addr", "add", f"fd00::{machine.place + 1}/64", "dev", "v", "nodad")
            machine.network.list.write_text("both\nfd00::2\n")
        else:
            machine.must("sysctl", "net.ipv4.ip_nonlocal_bind=1", env={"LD_PRELOAD": ""})
    start_daemons(machines)
    of_verbs(machines, ["ibv_rc_pingpong", "-c"])


@pytest.mark.any_model
def test_runs_of_a_machine_share_a_daemon(build):
    """The daemon ends after the last run, and with it its directory."""
    one, two = machines = build(2)
    program = PROGRAMS / "softhca-across"
    runs = []
    for number in range(3):
        for machine in machines:
            runs.append(machine.start(
                [machine.softhca, "run", *machine.options(), "--", program, "once"],
                env={"LD_PRELOAD": "", "ACROSS_SERVER": one.address,
                     "ACROSS_PORT": 8000 + 100 * number}))
    for run in runs:
        assert "ok" in run.communicate(timeout=60)[0] and run.returncode == 0
    for machine in machines:
        machine.until(lambda left: left == [], "end of the daemon", machine.processes)
        assert not machine.directory.exists()


@pytest.mark.any_model
def test_a_run_shares_a_daemon_whose_settings_were_changed(build):
    """They are those with which it was started."""
    one, = build(1)
    run = [one.softhca, "run", *one.options(), "--"]
    env = {"LD_PRELOAD": ""}
    with one.started([*run, "sleep", "60"], env=env):
        wait_for(lambda: one.inside([one.softhca, "status"], env=env).returncode == 0, "daemon")
        one.ask("ctl", "set", "nap=30")
        one.must(*run, "true", env=env)


@pytest.mark.any_model
def test_a_start_after_stop_finds_the_ports_free(build):
    one, _ = machines = build(2)
    start_daemons(machines)
    again = '"$0" stop && "$0" start "$@" >/dev/null &&'
    one.must("sh", "-c", f"{10 * again} true", one.softhca, *one.options(),
             env={"LD_PRELOAD": ""}, timeout=180)


@pytest.mark.any_model
def test_a_network_without_descriptors_to_wait_for_is_passed_over(build, in_memory):
    ctypes.CDLL("libfabric.so.1")
    maps = pathlib.Path("/proc/self/maps").read_text()
    (in_memory / "libfabric.so.1").symlink_to(PROGRAMS / "libdeaf-fabric.so")
    machines = build(2)
    env = {"LD_LIBRARY_PATH": f"{in_memory}:{os.environ.get('LD_LIBRARY_PATH', '')}",
           "REAL_LIBFABRIC": re.search(r"\S+/libfabric.so\S+", maps).group()}
    marks = [machine.scratch / "tried" for machine in machines]
    for start in [machine.start_daemon(env={**env, "DEAF_FABRIC_MARK": mark})
                  for machine, mark in zip(machines, marks)]:
        said = start.communicate(timeout=120)[0]
        assert start.returncode == 0, said
    assert all(mark.exists() for mark in marks)
    rows(machines, "XRC")
