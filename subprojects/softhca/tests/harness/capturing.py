# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Captures of what programs send, and how Wireshark reads them."""

import contextlib
import re
import subprocess

from installed import need
from pcapng import Capture


class Recording:
    """The file of a capture; after its end also its content, and what `ctl capture` said."""

    def __init__(self, path):
        self.path = path

    def read(self):
        self.capture = Capture(self.path)
        return self.capture


@contextlib.contextmanager
def capturing(daemon, *words, may_drop=False):
    """Captures what is sent meanwhile. Each packet is in the file, unless some may be dropped: on a
    busy machine a program can fill the ring before the writer runs."""
    recording = Recording(daemon.scratch / "captured.pcapng")
    recording.path.unlink(missing_ok=True)
    daemon.ask("ctl", "capture", recording.path, *words)
    yield recording
    recording.said = daemon.ask("ctl", "capture", "--stop")
    capture = recording.read()
    counts = re.fullmatch(r"(\d+) packets captured, (\d+) more dropped\n", recording.said)
    count, recording.dropped = map(int, counts.groups())
    assert len(capture.packets) == count
    assert (count + recording.dropped, recording.dropped) == tuple(
        map(sum, zip(*capture.statistics.values())))
    assert may_drop or not recording.dropped


# Wireshark guesses what the payload of a packet is, and takes test patterns for these.
GUESSES = ["rpcordma", "infiniband.eoib", "infiniband_sdp"]


def dissect(path, *fields):
    """The fields of each packet, as Wireshark reads them; "" for one that it has not."""
    need("tshark")
    words = [word for field in fields for word in ("-e", field)]
    words += [word for guess in GUESSES for word in ("--disable-protocol", guess)]
    done = subprocess.run(["tshark", "-r", path, "-T", "fields", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120,
                          env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


FIELDS = ["bth.opcode", "bth.destqp", "bth.psn", "bth.se", "bth.a", "deth.srcqp", "reth.va",
          "reth.r_key", "reth.dmalen", "atomiceth.swapdt", "atomiceth.cmpdt",
          "atomicacketh.origremdt", "aeth.syndrome", "aeth.msn"]
# What the fields are called here. XRC has headers that Wireshark does not know.
OURS = ["opcode", "qpn", "psn", "solicited", "ask_ack", "source", "address", "rkey", "dma",
        "operand", "compare", "old", "syndrome", "msn"]
# Packets of every transport have the first five.
OF_ALL = 5


def number(text):
    words = {"": None, "True": 1, "False": 0}
    return words[text] if text in words else int(text, 0)


def wireshark_agrees(recording):
    """Wireshark finds nothing malformed, and the same fields in each packet. Returns how many
    packets it has read."""
    rows = dissect(recording.path, "_ws.malformed", "_ws.col.Info",
                   *(f"infiniband.{field}" for field in FIELDS))
    assert len(rows) == len(recording.capture.packets)
    for packet, (malformed, info, *fields) in zip(recording.capture.packets, rows):
        assert not malformed and "alformed" not in info, (info, vars(packet))
        count = OF_ALL if packet.transport == "XRC" else len(OURS)
        theirs = dict(zip(OURS[:count], map(number, fields)))
        assert theirs == {name: getattr(packet, name, None) for name in OURS[:count]}, info
    return len(rows)
