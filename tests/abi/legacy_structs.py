# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Memory with the layouts of OFED 1.5.3's verbs.h, as abi/reference/ has them, between known bytes
and a page that cannot be accessed."""

import ctypes
import json
import mmap
import os
import pathlib
from ctypes import c_int, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

PAGE = mmap.PAGESIZE
FILL = 0x5A
FRONT = 256
REFERENCE = pathlib.Path(
    os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "abi" / "reference" / "ofed-1.5.3.json"
LAYOUTS = {
    **json.loads(REFERENCE.read_text())["abi"]["x86_64"],
    "uint32_t": {"size": 4, "fields": {"value": [0, 4]}},
    "void *": {"size": 8, "fields": {"value": [0, 8]}},
}
# {member that is a struct: its type}
INNER = {"attr": "ibv_srq_attr", "cap": "ibv_qp_cap", "ah_attr": "ibv_ah_attr",
         "ops": "ibv_context_ops"}
INTEGERS = {1: c_uint8, 2: c_uint16, 4: c_uint32, 8: c_uint64}


class Struct:
    """struct["member"] or struct["member.member"] of the struct of this name at an address."""

    def __init__(self, name, address):
        self.name, self.address = name, address

    def place(self, member):
        fields = LAYOUTS[self.name]["fields"]
        if member in fields:
            return fields[member]
        outer, inner = member.split(".")
        offset, size = LAYOUTS[INNER[outer]]["fields"][inner]
        return fields[outer][0] + offset, size

    def __getitem__(self, member):
        offset, size = self.place(member)
        if size not in INTEGERS:
            return ctypes.string_at(self.address + offset)
        return INTEGERS[size].from_address(self.address + offset).value

    def __setitem__(self, member, value):
        offset, size = self.place(member)
        INTEGERS[size].from_address(self.address + offset).value = value


libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = c_void_p
libc.mmap.argtypes = [c_void_p, ctypes.c_size_t, c_int, c_int, c_int, ctypes.c_long]
libc.mprotect.argtypes = [c_void_p, ctypes.c_size_t, c_int]


class Guarded(Struct):
    """A struct of exactly the old size. The page behind it cannot be accessed; the bytes before it
    are known, and intact() checks them."""

    def __init__(self, name, **values):
        self.size = LAYOUTS[name]["size"]
        page = libc.mmap(None, 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE,
                         mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        assert page not in (None, c_void_p(-1).value), "mmap failed"
        assert libc.mprotect(page + PAGE, PAGE, 0) == 0, "mprotect failed"
        super().__init__(name, page + PAGE - self.size)
        ctypes.memset(page, FILL, PAGE)
        ctypes.memset(self.address, 0, self.size)
        for member, value in values.items():
            self[member] = value

    def fill(self):
        """Fills it with known bytes, for a struct that a verb only writes."""
        ctypes.memset(self.address, FILL, self.size)

    def intact(self, call):
        front = ctypes.string_at(self.address - FRONT, FRONT)
        broken = [place - FRONT for place, byte in enumerate(front) if byte != FILL]
        assert not broken, f"{call} wrote before its {self.name}, at offsets {broken}"
