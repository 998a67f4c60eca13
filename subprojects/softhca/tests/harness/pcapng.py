# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Reads what `softhca ctl capture` writes, without Wireshark: blocks of pcapng, packets of
InfiniBand (in records of ERF) and of RoCE, with their checksums. Whatever is wrong is an
AssertionError."""

import struct
import zlib

ETHERNET, ERF = 1, 197
TRANSPORTS = {0: "RC", 1: "UC", 3: "UD", 5: "XRC"}
# {operation: (its name, the headers behind the BTH)}; XRC has XRCETH before those of a request.
OPERATIONS = {
    0x00: ("SEND_FIRST", ""), 0x01: ("SEND_MIDDLE", ""), 0x02: ("SEND_LAST", ""),
    0x03: ("SEND_LAST_IMM", "I"), 0x04: ("SEND_ONLY", ""), 0x05: ("SEND_ONLY_IMM", "I"),
    0x06: ("WRITE_FIRST", "R"), 0x07: ("WRITE_MIDDLE", ""), 0x08: ("WRITE_LAST", ""),
    0x09: ("WRITE_LAST_IMM", "I"), 0x0a: ("WRITE_ONLY", "R"), 0x0b: ("WRITE_ONLY_IMM", "RI"),
    0x0c: ("READ", "R"), 0x0d: ("ANSWER_FIRST", "A"), 0x0e: ("ANSWER_MIDDLE", ""),
    0x0f: ("ANSWER_LAST", "A"), 0x10: ("ANSWER_ONLY", "A"), 0x11: ("ACK", "A"),
    0x12: ("ATOMIC_ACK", "AO"), 0x13: ("SWAP", "T"), 0x14: ("ADD", "T"),
}
HEADERS = {
    "D": ("qkey source", ">II"), "X": ("srqn", ">I"), "R": ("address rkey dma", ">QII"),
    "I": ("imm", ">4s"), "A": ("syndrome_msn", ">I"), "O": ("old", ">Q"),
    "T": ("address rkey operand compare", ">QIQQ"),
}
ONES = b"\xff" * 8


def shifted(crc):
    for _ in range(8):
        crc = crc >> 1 ^ (0xd008 if crc & 1 else 0)
    return crc


TABLE = [shifted(byte) for byte in range(256)]


def crc16(data):
    """The variant CRC."""
    crc = 0xffff
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffff


class Packet:
    """The fields of a packet; those of headers that it has not are missing. `whole`: nothing was
    cut, and the checksums are right."""

    def __init__(self, interface, link, time, data, length):
        self.interface, self.time, self.length, self.captured = interface, time, length, len(data)
        self.whole = self.captured == length
        assert self.captured <= length
        if link == ERF:
            kind, flags, captured, _, on_wire = struct.unpack(">8xBBHHH", data[:16])
            assert (kind, flags, captured, on_wire) == (21, 4, len(data), length - 16)
            self.read_infiniband(data[16:], length - 16)
        else:
            assert link == ETHERNET
            self.read_ethernet(data, length)

    def read_infiniband(self, data, length):
        lanes, link, self.dlid, words, self.slid = struct.unpack(">BBHHH", data[:8])
        assert lanes == 0 and link & 3 in (2, 3) and 4 * words == length - 2
        self.sl, is_global = link >> 4, link & 3 == 3
        if self.whole:
            assert crc16(data[:-2]) == struct.unpack("<H", data[-2:])[0]
        body = data[:-2] if self.whole else data
        if is_global:
            self.read_network(body[8:], length - 10, 0x1b)
        else:
            self.read_transport(body[8:], b"\xf0" + data[1:8], length - 10)

    def read_ethernet(self, data, length):
        self.dmac, self.smac, kind = struct.unpack(">6s6sH", data[:14])
        self.protocol = kind
        if kind == 0x0800:
            self.read_ipv4(data[14:], length - 14)
        else:
            assert kind in (0x8915, 0x86dd)
            self.read_network(data[14:], length - 14, 0x1b if kind == 0x8915 else 17)

    def read_network(self, data, length, protocol):
        """GRH or IPv6."""
        first, size, kind, _, self.sgid, self.dgid = struct.unpack(">IHBB16s16s", data[:40])
        assert first >> 28 == 6 and size == length - 40 and kind == protocol
        masked = ONES + b"\x6f\xff\xff\xff" + data[4:7] + b"\xff" + data[8:40]
        if protocol == 17:
            self.read_udp(data[40:], masked, length - 40)
        else:
            self.read_transport(data[40:], masked, length - 40)

    def read_ipv4(self, data, length):
        assert data[0] == 0x45 and data[9] == 17 and struct.unpack(">H", data[2:4])[0] == length
        total = sum(struct.unpack(">10H", data[:20]))
        assert (total & 0xffff) + (total >> 16) == 0xffff
        self.sgid, self.dgid = (10 * b"\0" + b"\xff\xff" + data[at:at + 4] for at in (12, 16))
        masked = ONES + b"\x45\xff" + data[2:8] + b"\xff" + data[9:10] + b"\xff\xff" + data[12:20]
        self.read_udp(data[20:], masked, length - 20)

    def read_udp(self, data, masked, length):
        self.sport, port, size, checksum = struct.unpack(">HHHH", data[:8])
        assert self.sport >= 0xc000 and (port, size, checksum) == (4791, length, 0)
        self.read_transport(data[8:], masked + data[:6] + b"\xff\xff", length - 8)

    def read_transport(self, data, masked, length):
        """@masked: what counts for the ICRC of the bytes before @data."""
        self.opcode, flags, self.pkey, self.qpn, psn = struct.unpack(">BBHII", data[:12])
        self.solicited, padding, self.ask_ack = flags >> 7, flags >> 4 & 3, psn >> 31
        self.psn = psn & 0xffffff
        assert flags & 15 == 0 and self.pkey in (0, 0xffff)
        assert self.qpn < 1 << 24 and length % 4 == 0
        if self.whole:
            icrc = zlib.crc32(masked + data[:4] + b"\xff" + data[5:-4])
            assert icrc == struct.unpack("<I", data[-4:])[0]
        self.transport = TRANSPORTS[self.opcode >> 5]
        self.name, headers = OPERATIONS[self.opcode & 0x1f]
        at = self.read_headers(data, headers)
        self.size = length - at - padding - 4
        assert self.size >= 0
        self.payload = data[at:at + self.size]

    def read_headers(self, data, headers):
        self.is_request = "ANSWER" not in self.name and "ACK" not in self.name
        if self.transport == "XRC" and self.is_request:
            headers = "X" + headers
        if self.transport == "UD":
            headers = "D" + headers
        at = 12
        for header in headers:
            names, layout = HEADERS[header]
            values = struct.unpack_from(layout, data, at)
            vars(self).update(zip(names.split(), values))
            at += struct.calcsize(layout)
        if "A" in headers:
            self.syndrome, self.msn = self.syndrome_msn >> 24, self.syndrome_msn & 0xffffff
        return at

    @property
    def kind(self):
        return f"{self.transport} {self.name}"


class Capture:
    """All packets of a file, the names of its interfaces, and {interface: (packets sent, dropped)}
    if the capture came to its end."""

    def __init__(self, path):
        self.packets, self.names, self.statistics, links = [], [], {}, []
        for kind, body in blocks(path.read_bytes()):
            if kind == 0x0a0d0d0a:
                assert struct.unpack("<IHHq", body[:16]) == (0x1a2b3c4d, 1, 0, -1)
            elif kind == 1:
                links.append(struct.unpack("<H", body[:2])[0])
                self.names.append(options(body[8:])[2].decode())
            elif kind == 5:
                found = options(body[12:])
                self.statistics[struct.unpack("<I", body[:4])[0]] = tuple(
                    struct.unpack("<Q", found[code])[0] for code in (4, 5))
            else:
                assert kind == 6
                interface, high, low, captured, length = struct.unpack("<5I", body[:20])
                self.packets.append(Packet(interface, links[interface], high << 32 | low,
                                           body[20:20 + captured], length))

    def kinds(self):
        return {packet.kind for packet in self.packets}


def blocks(data):
    """(type, content) of each block; all are whole."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0 and length >= 12 and at + length <= len(data)
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8:at + length - 4]
        at += length


def options(data):
    """{code: value}"""
    found, at = {}, 0
    while True:
        code, length = struct.unpack_from("<HH", data, at)
        if not code:
            return found
        found[code] = data[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
