# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Calls the real shim as an old binary does, from Python: ctypes_shim.py SHIM, on an emulated HCA.
The structs have the layouts of OFED 1.5.3's verbs.h, as abi/reference/ has them, and lie between
known bytes and a page that cannot be accessed.

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
import sys
import tempfile
import time
from ctypes import c_char_p, c_int, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

NODE = b"IBVERBS_1.1"
QPT_XRC = 5
STATE_INIT, STATE_RTR, STATE_RTS = 1, 2, 3
# The bits of ibv_qp_attr_mask that an RC QP takes.
MASKS = {
    STATE_INIT: 1 << 0 | 1 << 4 | 1 << 5 | 1 << 3,
    STATE_RTR: 1 << 0 | 1 << 7 | 1 << 8 | 1 << 20 | 1 << 12 | 1 << 17 | 1 << 15,
    STATE_RTS: 1 << 0 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 16 | 1 << 13,
}
SRQ_LIMIT = 1 << 1
COMM_EST, SRQ_LIMIT_REACHED, XRC_FLAG = 4, 15, 0x80000000
SEND_WITH_IMM, SIGNALED = 3, 2
LOCAL_WRITE = 1
BYTES = 700
WAIT = 20.0  # seconds

# By what they return.
POINTERS = """get_device_list open_device alloc_pd create_cq reg_mr open_xrc_domain create_xrc_srq
create_qp""".split()
NUMBERS = """query_port close_xrc_domain modify_srq query_srq destroy_srq modify_qp query_qp destroy_qp
create_xrc_rcv_qp modify_xrc_rcv_qp query_xrc_rcv_qp reg_xrc_rcv_qp unreg_xrc_rcv_qp
get_async_event dereg_mr destroy_cq dealloc_pd close_device""".split()
NOTHING = ["free_device_list", "ack_async_event"]

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
    """An opened device with the objects for a message to itself. Each struct that a verb gets is a
    guarded one."""

    def __init__(self):
        self.verbs = verbs = Verbs()
        devices = verbs.ok("get_device_list", None)
        device = c_void_p.from_address(devices).value
        expect("the device's name by the old offset", Struct("ibv_device", device)["name"],
               {"connectx3": b"mlx4_0", "connectx5": b"mlx5_0"}[os.environ["SOFTHCA_MODEL"]])
        self.context = verbs.ok("open_device", device)
        verbs.ok("free_device_list", devices)
        port = Guarded("ibv_port_attr")
        verbs.ok("query_port", self.context, 1, port)
        self.lid = port["lid"]
        self.pd = verbs.ok("alloc_pd", self.context)
        self.cq = verbs.ok("create_cq", self.context, 16, None, None, 0)
        self.buffer = ctypes.create_string_buffer(2 * BYTES)
        self.mr = verbs.ok("reg_mr", self.pd, ctypes.addressof(self.buffer), 2 * BYTES, LOCAL_WRITE)
        self.lkey = Struct("ibv_mr", self.mr)["lkey"]
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

    def step(self, state, peer):
        return Guarded("ibv_qp_attr", qp_state=state, port_num=1, path_mtu=3, dest_qp_num=peer,
                       rq_psn=17, sq_psn=17, max_rd_atomic=1, max_dest_rd_atomic=1,
                       min_rnr_timer=12, timeout=14, retry_cnt=7, rnr_retry=7,
                       **{"ah_attr.dlid": self.lid, "ah_attr.port_num": 1})

    def connect(self):
        for state in (STATE_INIT, STATE_RTR, STATE_RTS):
            if state != STATE_RTS:
                self.verbs.ok("modify_xrc_rcv_qp", self.domain, self.rcv_qpn, self.step(state, self.qpn),
                              MASKS[state])
            self.verbs.ok("modify_qp", self.qp, self.step(state, self.rcv_qpn), MASKS[state])
            expect(f"qp->state after the step to {state}", Struct("ibv_qp", self.qp)["state"], state)

    def slot(self, owner, name, *arguments):
        """Calls owner->context->ops.NAME, as the inline functions of the old header do. context is
        the first member of SRQs, CQs and QPs alike."""
        context = c_void_p.from_address(owner).value
        function = Struct("ibv_context", context)[f"ops.{name}"]
        assert function, f"context->ops.{name} is NULL"
        return call(f"ops.{name}", function, c_int, (owner, *arguments))

    def post(self, receives=(10, 11)):
        base, bad = ctypes.addressof(self.buffer), Guarded("void *")
        to = Guarded("ibv_sge", addr=base + BYTES, length=BYTES, lkey=self.lkey)
        for number in receives:
            recv = Guarded("ibv_recv_wr", wr_id=number, sg_list=to.address, num_sge=1)
            expect("ibv_post_srq_recv", self.slot(self.srq, "post_srq_recv", recv, bad), 0)
        self.buffer[:BYTES] = bytes(i * 5 % 251 for i in range(BYTES))
        source = Guarded("ibv_sge", addr=base, length=BYTES, lkey=self.lkey)
        send = Guarded("ibv_send_wr", wr_id=20, sg_list=source.address, num_sge=1,
                       opcode=SEND_WITH_IMM, send_flags=SIGNALED, imm_data=0xCAFE,
                       xrc_remote_srq_num=self.srq_num)
        expect("ibv_post_send", self.slot(self.qp, "post_send", send, bad), 0)

    def completions(self):
        """{wr_id: wc} of the send and the receive."""
        found, end = {}, time.monotonic() + WAIT
        while len(found) < 2 and time.monotonic() < end:
            wc = Guarded("ibv_wc")
            got = self.slot(self.cq, "poll_cq", 1, wc)
            assert got >= 0, f"ibv_poll_cq: {got}"
            if got:
                expect(f"status of {wc['wr_id']}", wc["status"], 0)
                found[wc["wr_id"]] = wc
            else:
                time.sleep(0.001)
        expect("work requests that completed", sorted(found), [10, 20])
        return found

    def event(self, event_type, member, value):
        """Gets the next event, which must be this one, and acknowledges it."""
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
                            ("close_xrc_domain", self.domain), ("dereg_mr", self.mr),
                            ("destroy_cq", self.cq), ("dealloc_pd", self.pd), ("close_device",
                                                                               self.context)):
            self.verbs.ok(name, thing)


def check_message():
    """A message from a QP to an SRQ of its own device, with queries and events. The first message
    on a receive QP in RTR raises COMM_EST with the flag and the number."""
    endpoint = Endpoint()
    endpoint.create_srq()
    endpoint.create_qps()
    endpoint.connect()
    endpoint.post()
    done = endpoint.completions()
    expect("the payload", endpoint.buffer.raw[BYTES:], endpoint.buffer.raw[:BYTES])
    expect("length, immediate and QP of the receive",
           [done[10][member] for member in ("byte_len", "imm_data", "qp_num")],
           [BYTES, 0xCAFE, endpoint.rcv_qpn])
    expect("QP of the send", done[20]["qp_num"], endpoint.qpn)
    attr, init_attr = endpoint.query("query_qp", [endpoint.qp])
    expect("state, peer and type", (attr["qp_state"], attr["dest_qp_num"], init_attr["qp_type"]),
           (STATE_RTS, endpoint.rcv_qpn, QPT_XRC))
    attr, _ = endpoint.query("query_xrc_rcv_qp", [endpoint.domain, endpoint.rcv_qpn])
    expect("state and peer of the receive QP", (attr["qp_state"], attr["dest_qp_num"]),
           (STATE_RTR, endpoint.qpn))
    endpoint.event(COMM_EST | XRC_FLAG, "element.xrc_qp_num", endpoint.rcv_qpn)
    endpoint.verbs.ok("modify_srq", endpoint.srq, Guarded("ibv_srq_attr", srq_limit=1), SRQ_LIMIT)
    attr = Guarded("ibv_srq_attr")
    attr.fill()
    endpoint.verbs.ok("query_srq", endpoint.srq, attr)
    expect("srq_limit", attr["srq_limit"], 1)
    endpoint.post(receives=())
    endpoint.event(SRQ_LIMIT_REACHED, "element.srq", endpoint.srq)
    endpoint.finish()


def main():
    shim = sys.argv[1]
    preload = os.environ.get("LD_PRELOAD", "")
    if preload.split(":")[0] != shim:
        os.environ["LD_PRELOAD"] = f"{shim}:{preload}".rstrip(":")
        os.execv(sys.executable, [sys.executable, *sys.argv])
    faulthandler.enable()
    try:
        check_message()
    except AssertionError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
