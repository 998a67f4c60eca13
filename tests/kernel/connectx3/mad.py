# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""MAD_IFC: the driver asks its own adapter as a subnet manager would (InfiniBand Architecture
Specification 14.2.5)."""

from . import identity
from .layouts import MAD

GET_RESPONSE = 0x81
DATA, DATA_SIZE = 64, 64
NODE_DESCRIPTION, NODE_INFO, GUID_INFO, PORT_INFO, PKEY_TABLE = 0x10, 0x11, 0x14, 0x15, 0x16
FULL_MEMBER = 0xffff
UNSUPPORTED = 0x000c


def answer(lid, question):
    """The answer of the port with this LID. Only the first entries of its tables are in use."""
    reply = bytearray(question[:MAD.size])
    asked = MAD.parse(reply)
    data = {
        NODE_DESCRIPTION: f"adapter {lid}".encode(),
        NODE_INFO: identity.node_info(lid),
        GUID_INFO: (0 if asked.modifier else identity.port_guid(lid)).to_bytes(8, "big"),
        PORT_INFO: identity.port_info(lid),
        PKEY_TABLE: (0 if asked.modifier & 0xffff else FULL_MEMBER).to_bytes(2, "big"),
    }.get(asked.attribute)
    if data:
        reply[DATA:DATA + DATA_SIZE] = data.ljust(DATA_SIZE, b"\0")
    MAD.put(reply, method=GET_RESPONSE, status=0 if data else UNSUPPORTED)
    return reply
