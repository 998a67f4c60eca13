# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`softhca ctl capture`: the packets of requests and answers, as adapters would send them, read by
harness/pcapng.py and by Wireshark."""

import collections
import re

import pytest

import models
from built import PROGRAMS
from capturing import capturing, dissect, wireshark_agrees
from pairs import pair_command

BOTH_LINKS = pytest.mark.parametrize("settings", [[], ["--link=ethernet"]])
SIZE = 2053  # three packets
ROUNDS = 3


@pytest.fixture
def pingpong(daemon, run, settings):
    """pingpong(NAME, SIZE): runs it between two adapters. Returns its output."""
    def play(name, size=SIZE, *words):
        gid = ["-g", "2"] if settings else []
        done = run(pair_command([name, "-n", ROUNDS, "-s", size, *gid, *words]), timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    return play


def told(out, name):
    """The numbers of both sides that the program prints behind this name."""
    return {int(number, 16) for number in re.findall(rf"{name} (?:0x)?([0-9a-f]+)", out)}


def messages(packets):
    """{(interface, QP): the bytes of all its messages}"""
    found = collections.defaultdict(bytes)
    for packet in packets:
        found[packet.interface, packet.qpn] += packet.payload
    return found


@BOTH_LINKS
@pytest.mark.parametrize("transport", ["RC", "UC"])
def test_a_message_is_sent_in_packets(daemon, pingpong, transport):
    with capturing(daemon) as recording:
        out = pingpong(f"ibv_{transport.lower()}_pingpong")
    packets = recording.capture.packets
    sent = 2 * ROUNDS
    assert collections.Counter(packet.name for packet in packets) == {
        "SEND_FIRST": sent, "SEND_MIDDLE": sent, "SEND_LAST": sent,
        **({"ACK": sent} if transport == "RC" else {})}
    assert {packet.transport for packet in packets} == {transport}
    assert {packet.qpn for packet in packets} == told(out, "QPN")
    requests = [packet for packet in packets if packet.name != "ACK"]
    assert set(messages(requests).values()) == {b"{" * (ROUNDS * SIZE)}
    for interface in (0, 1):
        numbers = [packet.psn for packet in requests if packet.interface == interface]
        assert numbers[0] in told(out, "PSN")
        assert numbers == [numbers[0] + i & 0xffffff for i in range(3 * ROUNDS)]


@BOTH_LINKS
def test_an_acknowledgement_names_the_last_packet(daemon, pingpong):
    with capturing(daemon) as recording:
        pingpong("ibv_rc_pingpong")
    requests = [packet for packet in recording.capture.packets if packet.name != "ACK"]
    answers = [packet for packet in recording.capture.packets if packet.name == "ACK"]
    assert [packet.name for packet in requests if packet.ask_ack] == 2 * ROUNDS * ["SEND_LAST"]
    for interface in (0, 1):
        asked = [packet.psn for packet in requests
                 if packet.interface == interface and packet.ask_ack]
        given = [(packet.psn, packet.syndrome, packet.msn) for packet in answers
                 if packet.interface != interface]
        assert given == [(psn, 0x1f, 1 + count) for count, psn in enumerate(asked)]


@BOTH_LINKS
def test_a_datagram_names_its_sender(daemon, pingpong):
    with capturing(daemon) as recording:
        out = pingpong("ibv_ud_pingpong", 1001)
    packets = recording.capture.packets
    assert [packet.kind for packet in packets] == 2 * ROUNDS * ["UD SEND_ONLY"]
    assert {packet.payload for packet in packets} == {b"{" * 1001}
    numbers = {packet.interface: packet.source for packet in packets}
    assert set(numbers.values()) == told(out, "QPN")
    assert {(packet.qpn, packet.qkey) for packet in packets} == {
        (number, 0x11111111) for number in numbers.values()}
    for interface in (0, 1):
        psns = [packet.psn for packet in packets if packet.interface == interface]
        assert psns == [psns[0] + i & 0xffffff for i in range(ROUNDS)]


def test_a_request_of_xrc_names_the_srq(daemon, pingpong):
    """The program may end before its last message is answered, which then comes again."""
    with capturing(daemon) as recording:
        out = pingpong("ibv_xsrq_pingpong")
    requests = [packet for packet in recording.capture.packets if packet.name != "ACK"]
    answers = [packet for packet in recording.capture.packets if packet.name == "ACK"]
    assert {packet.transport for packet in recording.capture.packets} == {"XRC"}
    assert {packet.qpn for packet in requests} == told(out, "QPN RECV")
    assert {packet.qpn for packet in answers} == told(out, "SEND")
    assert {packet.srqn for packet in requests} == told(out, "SRQN")
    assert [packet.size for packet in requests] == len(requests) // 3 * [1024, 1024, SIZE - 2048]
    assert len(requests) // 3 >= len(answers) >= 2 * ROUNDS - 1


def test_addresses_are_those_of_the_ports(daemon, pingpong):
    """On InfiniBand the interface of the sender has the LID of the source."""
    with capturing(daemon) as recording:
        pingpong("ibv_rc_pingpong")
    assert recording.capture.names == [f"{models.device(0)}/1", f"{models.device(1)}/1"]
    assert {(packet.interface, packet.slid, packet.dlid)
            for packet in recording.capture.packets} == {(0, 1, 3), (1, 3, 1)}


# ---- all operations, by the programs whose rows make them ----

ROWS = {
    "data-path": {
        "RC READ", "RC ANSWER_FIRST", "RC ANSWER_MIDDLE", "RC ANSWER_LAST", "RC WRITE_FIRST",
        "RC WRITE_MIDDLE", "RC WRITE_LAST", "RC ACK"},
    "datagrams": {"UD SEND_ONLY", "UD SEND_ONLY_IMM"},
    "failures": {
        "RC ADD", "RC ATOMIC_ACK", "RC READ", "RC ANSWER_ONLY", "RC SEND_FIRST", "RC SEND_LAST",
        "UD SEND_ONLY", "RC NAK 1", "RC NAK 2", "RC NAK 3"},
    "not-ready": {"RC WRITE_ONLY_IMM", "RC RNR 1", "RC RNR 22"},
    "meetings": {"RC SWAP", "XRC SEND_ONLY", "XRC ACK"},
    "rules": {"XRC SEND_FIRST", "XRC SEND_MIDDLE", "XRC SEND_ONLY"},
}

# The other rows of these programs send tens of thousands of packets.
PART = {"data-path": "a fenced read", "rules": "midway"}


def kind_of(packet):
    """Transport and name, as in ROWS; of a refusal its code in place of the name."""
    codes = {0x20: "RNR", 0x60: "NAK"}
    if getattr(packet, "syndrome", 0x1f) == 0x1f:
        return packet.kind
    return f"{packet.transport} {codes[packet.syndrome & 0x60]} {packet.syndrome & 0x1f}"


def answered(packets):
    """Each read that is answered gets all it asked for, and each atomic operation its answer, with
    the numbers of the request."""
    count = 0
    for at, request in enumerate(packets):
        if request.name == "READ" and packets[at + 1].name.startswith("ANSWER"):
            size = packets[at + 1].size or 1
            answers = packets[at + 1:at + 1 + max(1, -(-request.dma // size))]
            assert [packet.psn for packet in answers] == [
                request.psn + i & 0xffffff for i in range(len(answers))]
            assert sum(packet.size for packet in answers) == request.dma
            count += 1
        if request.name == "ATOMIC_ACK":
            assert packets[at - 1].name in ("SWAP", "ADD") and packets[at - 1].psn == request.psn
            count += 1
    return count


@pytest.mark.any_model
@pytest.mark.parametrize("settings", [["--open_events=on"]])
@pytest.mark.parametrize("program", ROWS)
def test_all_rows_are_captured(daemon, run, softhca, program):
    for _ in range(5):
        with capturing(daemon, may_drop=True) as recording:
            done = run([PROGRAMS / f"softhca-{program}", "", PART.get(program, "")], timeout=100,
                       env={"SOFTHCA_TEST_COMMAND": str(softhca)})
        assert done.returncode == 0, done.stdout + done.stderr
        if not recording.dropped:
            break
    assert not recording.dropped
    packets = recording.capture.packets
    assert sorted(ROWS[program] - {kind_of(packet) for packet in packets}) == []
    assert answered(packets) or program not in ("data-path", "failures")
    assert wireshark_agrees(recording)


@pytest.mark.on_model("connectx5")  # has RoCE v1 and v2, with IPv4 and IPv6
@pytest.mark.parametrize("settings", [["--link=ethernet"]])
@pytest.mark.parametrize("name", ["ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong"])
def test_wireshark_reads_each_kind_of_roce(daemon, run, name):
    with capturing(daemon) as recording:
        for gid in range(2, 6):
            done = run(pair_command([name, "-n", 2, "-s", 999, "-g", gid]))
            assert done.returncode == 0, done.stdout + done.stderr
    protocols = dissect(recording.path, "frame.protocols")
    assert {protocol.split(":infiniband")[0] for protocol, in protocols} == {
        "eth:ethertype", "eth:ethertype:ip:udp", "eth:ethertype:ipv6:udp"}
    assert wireshark_agrees(recording) >= 16


# ---- faults, and cut packets ----

def repeated(packets):
    """How many requests have been sent before."""
    requests = [(packet.interface, packet.psn) for packet in packets if packet.name != "ACK"]
    return len(requests) - len(set(requests))


@pytest.mark.any_model
def test_retries_are_in_the_file(daemon, pingpong):
    """A request comes again until it is answered."""
    with capturing(daemon) as recording:
        pingpong("ibv_rc_pingpong", 100)
    assert not repeated(recording.capture.packets)
    daemon.ask("ctl", "fault", "all", "drop", "10%")
    with capturing(daemon) as recording:
        pingpong("ibv_rc_pingpong", 100, "-n", 40)
    assert repeated(recording.capture.packets)
    daemon.ask("ctl", "fault", "all", "drop", "0")
    daemon.ask("ctl", "fault", "all", "duplicate", "100%")
    with capturing(daemon) as recording:
        pingpong("ibv_rc_pingpong", 100)
    assert repeated(recording.capture.packets) == 2 * ROUNDS


@pytest.mark.any_model
@pytest.mark.parametrize("port, kinds", [("up", {"RC SEND_ONLY"}), ("down", set())])
def test_a_port_that_is_down_sends_nothing(daemon, run, port, kinds):
    """A request without an answer."""
    daemon.ask("ctl", "port", models.device(0), "1", port)
    with capturing(daemon) as recording:
        done = run([PROGRAMS / "softhca-failures", "", "an unconnected peer does not answer"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert recording.capture.kinds() == kinds


@BOTH_LINKS
@pytest.mark.any_model
def test_packets_are_cut(daemon, pingpong):
    """The headers stay, and the length on the wire."""
    with capturing(daemon, "--snap=128") as recording:
        pingpong("ibv_rc_pingpong")
    packets = recording.capture.packets
    cut = [packet for packet in packets if packet.name in ("SEND_FIRST", "SEND_MIDDLE")]
    assert {(packet.captured, packet.size, packet.whole) for packet in cut} == {(128, 1024, False)}
    assert all(packet.whole for packet in packets if packet not in cut)
    numbers = [int(psn) for psn, in dissect(recording.path, "infiniband.bth.psn")]
    assert numbers == [packet.psn for packet in packets]
