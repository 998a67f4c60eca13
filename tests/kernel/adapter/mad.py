# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""MAD_IFC: the driver asks its own adapter as a subnet manager would (InfiniBand Architecture
Specification 14.2.5)."""

import identity
from layouts import MAD

GET_RESPONSE = 0x81
DATA, DATA_SIZE = 64, 64
NODE_DESCRIPTION, NODE_INFO, GUID_INFO, PORT_INFO, PKEY_TABLE = 0x10, 0x11, 0x14, 0x15, 0x16
FULL_MEMBER = 0xffff
UNSUPPORTED = 0x000c


class Answers:
    """The answers of one port."""

    def __init__(self, lid):
        self.lid = lid
        self.description = f"adapter {lid}".encode().ljust(DATA_SIZE, b"\0")

    def _describe(self, _modifier):
        return self.description

    def _node(self, _modifier):
        return identity.node_info(self.lid)

    def _guids(self, modifier):
        return (identity.node_guid(self.lid) + 1 if not modifier else 0).to_bytes(8, "big").ljust(
            DATA_SIZE, b"\0")

    def _port(self, _modifier):
        return identity.port_info(self.lid)

    def _pkeys(self, modifier):
        return (FULL_MEMBER if not modifier & 0xffff else 0).to_bytes(2, "big").ljust(
            DATA_SIZE, b"\0")

    def answer(self, question):
        reply = bytearray(question[:MAD.size])
        asked = MAD.parse(reply)
        handler = {
            NODE_DESCRIPTION: self._describe, NODE_INFO: self._node, GUID_INFO: self._guids,
            PORT_INFO: self._port, PKEY_TABLE: self._pkeys
        }.get(asked.attribute)
        if handler:
            reply[DATA:DATA + DATA_SIZE] = handler(asked.modifier)
        MAD.put(reply, method=GET_RESPONSE, status=0 if handler else UNSUPPORTED)
        return reply
