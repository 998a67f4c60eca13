# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Captures of programs over librdmacm: the messages of the connection manager, and what the program
sends to the QPs and groups that they name."""

import socket
import struct

import pytest

import models
from capturing import capturing, dissect, wireshark_agrees
from emulator import HERE, THERE
from installed import need, need_xclient

pytestmark = pytest.mark.any_model

LINKS = pytest.mark.parametrize("settings", [[], ["--link=ethernet"]])
MESSAGES = {0x10: "REQ", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP",
            0x17: "SIDR_REQ", 0x18: "SIDR_REP"}


class Message:
    """A MAD to QP 1."""

    def __init__(self, packet):
        header = struct.unpack(">BBBBHHQHHI", packet.payload[:24])
        assert packet.kind == "UD SEND_ONLY" and packet.size == 256
        assert (packet.source, packet.qkey) == (1, 0x80010000)
        assert header[:6] == (1, 7, 2, 3, 0, 0) and header[8:] == (0, 0)
        self.transaction, self.name = header[6], MESSAGES[header[7]]
        self.interface, self.data = packet.interface, packet.payload[24:]
        self.local, self.remote = struct.unpack(">II", self.data[:8])

    def number(self, at):
        """A field of 24 bits."""
        return int.from_bytes(self.data[at:at + 3], "big")


@pytest.fixture
def played(daemon, finish):
    """played(SERVER, CLIENT...): the capture of these programs. The first client ends the server.
    @last: whether the last client fails."""
    def play(server, *clients, last=False):
        need(server.split()[0])
        with capturing(daemon) as recording:
            servers = daemon.start(server.split(), host=1)
            daemon.until_listening()
            for client in clients:
                status, out = finish(daemon.start(client.split(), host=0))
                assert bool(status) == (last and client is clients[-1]), out
                if client is clients[0]:
                    assert finish(servers)[0] == 0
        packets = recording.capture.packets
        recording.messages = [Message(packet) for packet in packets if packet.qpn == 1]
        recording.others = [packet for packet in packets if packet.qpn != 1]
        return recording
    return play


def order(recording):
    return [(message.interface, message.name) for message in recording.messages]


@LINKS
def test_a_connection(played, settings):
    """The numbers of both QPs and of their first packets, the path's MTU (1024 or 4096), and the
    ids of both sides."""
    recording = played(f"rping -s -a {THERE} -C 3", f"rping -c -a {THERE} -I {HERE} -C 3")
    req, rep, rtu, dreq, drep = recording.messages
    assert [m.name for m in recording.messages] == ["REQ", "REP", "RTU", "DREQ", "DREP"]
    assert (req.interface, rep.interface, rtu.interface) == (0, 1, 0)
    assert {dreq.interface, drep.interface} == {0, 1}
    assert req.transaction == rep.transaction == rtu.transaction
    assert dreq.transaction == drep.transaction
    assert (rep.remote, rtu.local, rtu.remote) == (req.local, req.local, rep.local)
    assert {(m.local, m.remote) for m in (dreq, drep)} == {
        (req.local, rep.local), (rep.local, req.local)}
    ours = [packet for packet in recording.others if packet.interface == 0]
    theirs = [packet for packet in recording.others if packet.interface == 1]
    assert {packet.qpn for packet in ours} == {rep.number(12)}
    assert {packet.qpn for packet in theirs} == {req.number(32)}
    assert dreq.number(8) == (rep.number(12) if dreq.interface == 0 else req.number(32))
    assert ours[0].psn == req.number(44)
    assert req.data[50] >> 4 == (3 if settings else 5)
    assert next(p for p in theirs if p.name != "ACK").psn == rep.number(20)


@LINKS
def test_wireshark_reads_a_connection(played):
    recording = played(f"rping -s -a {THERE} -C 1", f"rping -c -a {THERE} -I {HERE} -C 1")
    wireshark_agrees(recording)
    req, rep, rtu, *_ = dissect(
        recording.path, "_ws.col.Info", "infiniband.cm.req.serviceid.dport",
        "infiniband.cm.req.ip_cm.sip4", "infiniband.cm.req.ip_cm.dip4",
        "infiniband.cm.req.localqpn", "infiniband.cm.rep.localqpn", "infiniband.cm.req.localcaguid")
    assert [row[0] for row in (req, rep, rtu)] == [
        "CM: ConnectRequest", "CM: ConnectReply", "CM: ReadyToUse"]
    assert (int(req[1], 16), req[2], req[3]) == (7174, HERE, THERE)
    assert int(req[4], 16) == recording.messages[0].number(32)
    assert int(rep[5], 16) == recording.messages[1].number(12)
    assert int(req[6], 16) == 0x0002c90300112200


def test_a_connection_that_nobody_accepts(played):
    """The server listens no more."""
    client = f"rping -c -a {THERE} -I {HERE} -C 1"
    recording = played(f"rping -s -a {THERE} -C 1", client, client + " -v", last=True)
    assert order(recording)[-2:] == [(0, "REQ"), (1, "REJ")]
    req, rej = recording.messages[-2:]
    assert rej.remote == req.local and rej.transaction == req.transaction
    assert struct.unpack(">H", rej.data[10:12])[0] == 8  # no such service
    wireshark_agrees(recording)


@LINKS
def test_datagrams(played):
    """The QP and Q_Key of the answer are those to which the datagrams go."""
    recording = played(f"udaddy -b {THERE} -c 1 -C 2", f"udaddy -s {THERE} -b {HERE} -c 1 -C 2")
    req, rep = recording.messages
    assert order(recording) == [(0, "SIDR_REQ"), (1, "SIDR_REP")]
    assert rep.local == req.local and not rep.data[4]
    ours = [packet for packet in recording.others if packet.interface == 0]
    qkey = struct.unpack(">I", rep.data[20:24])[0]
    assert {(p.qpn, p.qkey) for p in ours} == {(rep.number(8), qkey)}
    wireshark_agrees(recording)


def test_an_xrc_connection_asks_for_it(played):
    need_xclient("-c x")
    recording = played("rdma_xserver -c x", f"rdma_xclient -s {THERE} -c x")
    kinds = [(m.data[43] >> 1 & 3, m.data[51] & 7) for m in recording.messages if m.name == "REQ"]
    assert (3, 1) in kinds
    assert "XRC SEND_ONLY" in recording.capture.kinds()
    wireshark_agrees(recording)


# The Ethernet address and the GID of the group 239.0.0.7 (the kernel's cma_iboe_set_mgid).
BY_ROCE = {"connectx3": ("3333ef000007", "ff0e::ffff:239.0.0.7"),
           "connectx5": ("01005e000007", "::ffff:239.0.0.7")}


@LINKS
def test_multicast(daemon, finish, settings):
    """A message to a group is sent once, to the GID and LID of the group. RoCE v2 sends it to the
    group's address."""
    need("mckey")
    with capturing(daemon) as recording:
        listeners = [daemon.start(["mckey", "-m", "239.0.0.7", "-C", "2"], host=host)
                     for host in (0, 1)]
        daemon.until(lambda now: 2 == sum(o.get("groups", 0) for context in now["contexts"]
                                          for o in context["objects"]), "listeners")
        sender = daemon.start(["mckey", "-s", "-m", "239.0.0.7", "-C", "2"], host=0)
        for process in (sender, *listeners):
            assert finish(process)[0] == 0
    packets = recording.capture.packets
    assert [(p.interface, p.kind, p.qpn) for p in packets] == 2 * [
        (0, "UD SEND_ONLY_IMM", 0xffffff)]
    gid = "ff12:4001:ffff::f00:7"
    if settings:
        mac, gid = BY_ROCE[models.model()]
        assert {packet.dmac.hex() for packet in packets} == {mac}
    else:
        assert {packet.dlid for packet in packets} == {0xc001}
    assert {packet.dgid for packet in packets} == {socket.inet_pton(socket.AF_INET6, gid)}
    wireshark_agrees(recording)
