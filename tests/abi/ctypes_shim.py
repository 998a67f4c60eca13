# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Calls the real shim as an old binary does, from Python: ctypes_shim.py SHIM SOFTHCA, on
an emulated HCA. The structs have the layouts of OFED 1.5.3's verbs.h, as abi/reference/ has them,
and lie between known bytes and a page that cannot be accessed.

It starts itself again with the shim in LD_PRELOAD. Exits with 0, or prints what is wrong on stderr.
A write behind a struct raises SIGSEGV, and the line of the call is printed.
"""

import ctypes
import errno
import faulthandler
import json
import mmap
import os
import pathlib
import select
import subprocess
import sys
import tempfile
from ctypes import c_char_p, c_int, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

NODE = b"IBVERBS_1.1"
QPT_XRC = 5
STATE_INIT = 1
INIT_MASK = 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5
PATH_MIG, SRQ_LIMIT_REACHED, XRC_FLAG = 6, 15, 0x80000000
WAIT = 20.0  # seconds

# By what they return.
POINTERS = """get_device_list open_device alloc_pd create_cq open_xrc_domain create_xrc_srq
create_qp""".split()
NUMBERS = """query_port close_xrc_domain destroy_srq modify_qp query_qp destroy_qp
create_xrc_rcv_qp modify_xrc_rcv_qp query_xrc_rcv_qp reg_xrc_rcv_qp unreg_xrc_rcv_qp
get_async_event destroy_cq dealloc_pd close_device""".split()
NOTHING = ["free_device_list", "ack_async_event"]

PAGE = mmap.PAGESIZE
FILL = 0x5A
FRONT = 256
REFERENCE = pathlib.Path(
    os.environ["XRC_COMPAT_SOURCE_ROOT"]) / "abi" / "reference" / "ofed-1.5.3.json"
LAYOUTS = {
    **json.loads(REFERENCE.read_text())["abi"]["x86_64"],
    "uint32_t": {"size": 4, "fields": {"value": [0, 4]}},
}
# {member that is a struct: its type}
INNER = {"attr": "ibv_srq_attr", "cap": "ibv_qp_cap"}
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
libc.dlvsym.restype = libc.mmap.restype = c_void_p
libc.dlvsym.argtypes = [c_void_p, c_char_p, c_char_p]
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


def expect(what, got, want):
    assert got == want, f"{what}: {got!r}, it should be {want!r}"


def call(what, address, result, arguments):
    """Calls a function, which must not write beyond a guarded argument. Each argument has a
    register of its own, so all may be wide."""
    function = ctypes.CFUNCTYPE(result, *[c_uint64] * len(arguments), use_errno=True)(address)
    returned = function(*(getattr(a, "address", a) or 0 for a in arguments))
    for argument in arguments:
        if isinstance(argument, Guarded):
            argument.intact(what)
    return returned


class Verbs:
    """The functions, by dlvsym with the version that an old binary asks for. All are looked up at
    once, as MPIs do it, since the shim decides by what a program looks up whether its XRC QPs are
    one-way."""

    def __init__(self):
        handle = ctypes.CDLL("libibverbs.so.1")._handle
        self.found = {name: libc.dlvsym(handle, b"ibv_" + name.encode(), NODE)
                      for name in POINTERS + NUMBERS + NOTHING}
        assert all(self.found.values()), f"dlvsym finds: {self.found}"

    def ok(self, name, *arguments):
        """Calls a verb, which must succeed."""
        ctypes.set_errno(0)
        returns = None if name in NOTHING else c_void_p if name in POINTERS else c_int
        result = call(f"ibv_{name}", self.found[name], returns, arguments)
        error = (0 if result else ctypes.get_errno() or -1) if name in POINTERS else result
        assert not error, f"ibv_{name}: {errno.errorcode.get(error, error)}, errno {ctypes.get_errno()}"
        return result


class Endpoint:
    """An opened device with an object of each kind. Each struct that a verb gets is a guarded one."""

    def __init__(self):
        self.verbs = verbs = Verbs()
        devices = verbs.ok("get_device_list", None)
        device = c_void_p.from_address(devices).value
        self.device = Struct("ibv_device", device)["name"].decode()
        expect("the device's name by the old offset", self.device,
               {"connectx3": "mlx4_0", "connectx5": "mlx5_0"}[os.environ["SOFTHCA_MODEL"]])
        self.context = verbs.ok("open_device", device)
        verbs.ok("free_device_list", devices)
        port = Guarded("ibv_port_attr")
        verbs.ok("query_port", self.context, 1, port)
        assert port["lid"], "ibv_query_port wrote no LID"
        self.pd = verbs.ok("alloc_pd", self.context)
        self.cq = verbs.ok("create_cq", self.context, 16, None, None, 0)
        with tempfile.TemporaryFile() as file:
            self.domain = verbs.ok("open_xrc_domain", self.context, file.fileno(), os.O_CREAT)

    def create_srq(self):
        attr = Guarded("ibv_srq_init_attr", **{"attr.max_wr": 5, "attr.max_sge": 1})
        self.srq = self.verbs.ok("create_xrc_srq", self.pd, self.domain, self.cq, attr)
        assert attr["attr.max_wr"] >= 5, "ibv_create_xrc_srq did not write max_wr back"
        self.srq_num = Struct("ibv_srq", self.srq)["xrc_srq_num"]

    def create_qps(self):
        # As GASNet does it, which sets nothing but the domain.
        attr, number = Guarded("ibv_qp_init_attr"), Guarded("uint32_t")
        attr.fill()
        attr["xrc_domain"] = self.domain
        self.verbs.ok("create_xrc_rcv_qp", attr, number)
        self.rcv_qpn = number["value"]
        attr = Guarded("ibv_qp_init_attr", send_cq=self.cq, recv_cq=self.cq, qp_type=QPT_XRC,
                       xrc_domain=self.domain, **{"cap.max_send_wr": 4, "cap.max_send_sge": 1})
        self.qp = self.verbs.ok("create_qp", self.pd, attr)
        self.qpn = Struct("ibv_qp", self.qp)["qp_num"]

    def initialise(self):
        attr = Guarded("ibv_qp_attr", qp_state=STATE_INIT, port_num=1)
        self.verbs.ok("modify_xrc_rcv_qp", self.domain, self.rcv_qpn, attr, INIT_MASK)
        self.verbs.ok("modify_qp", self.qp, attr, INIT_MASK)
        expect("qp->state", Struct("ibv_qp", self.qp)["state"], STATE_INIT)

    def event(self, name, number, event_type, member, value):
        """Raises an event, which must arrive as this one, and acknowledges it."""
        subprocess.run([sys.argv[2], "ctl", "event", self.device, name, str(number)], check=True)
        fd = Struct("ibv_context", self.context)["async_fd"]
        assert select.select([fd], [], [], WAIT)[0], f"no asynchronous event within {WAIT} s"
        event = Guarded("ibv_async_event")
        event.fill()
        self.verbs.ok("get_async_event", self.context, event)
        expect("event_type", event["event_type"], event_type)
        expect(member, event[member], value)
        self.verbs.ok("ack_async_event", event)

    def query(self, verb, qp):
        """(attr, init_attr) of a QP. Today's ibv_qp_attr is longer than the old one, and its
        ibv_qp_init_attr shorter."""
        attr, init_attr = Guarded("ibv_qp_attr"), Guarded("ibv_qp_init_attr")
        attr.fill()
        init_attr.fill()
        self.verbs.ok(verb, *qp, attr, (1 << 21) - 1, init_attr)
        expect(f"init_attr.xrc_domain of {verb}", init_attr["xrc_domain"], self.domain)
        return attr, init_attr

    def finish(self):
        self.verbs.ok("unreg_xrc_rcv_qp", self.domain, self.rcv_qpn)
        for name, thing in (("destroy_qp", self.qp), ("destroy_srq", self.srq),
                            ("close_xrc_domain", self.domain), ("destroy_cq", self.cq),
                            ("dealloc_pd", self.pd), ("close_device", self.context)):
            self.verbs.ok(name, thing)


def check_structs():
    endpoint = Endpoint()
    endpoint.create_srq()
    endpoint.create_qps()
    endpoint.initialise()
    attr, init_attr = endpoint.query("query_qp", [endpoint.qp])
    expect("state and type", (attr["qp_state"], init_attr["qp_type"]), (STATE_INIT, QPT_XRC))
    attr, _ = endpoint.query("query_xrc_rcv_qp", [endpoint.domain, endpoint.rcv_qpn])
    expect("state of the receive QP", attr["qp_state"], STATE_INIT)
    endpoint.event("path_mig", endpoint.rcv_qpn, PATH_MIG | XRC_FLAG, "element.xrc_qp_num",
                   endpoint.rcv_qpn)
    endpoint.event("srq_limit_reached", endpoint.srq_num, SRQ_LIMIT_REACHED, "element.srq",
                   endpoint.srq)
    endpoint.finish()


def main():
    shim = sys.argv[1]
    preload = os.environ.get("LD_PRELOAD", "")
    if preload.split(":")[0] != shim:
        os.environ["LD_PRELOAD"] = f"{shim}:{preload}".rstrip(":")
        os.execv(sys.executable, [sys.executable, *sys.argv])
    faulthandler.enable()
    try:
        check_structs()
    except AssertionError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
