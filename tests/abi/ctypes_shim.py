# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Calls the real shim as an old binary does, from Python: ctypes_shim.py SHIM SOURCE_ROOT CHECK, on
an emulated HCA.

It starts itself again with the shim in LD_PRELOAD. Exits with 0, or prints what is wrong on stderr.
A write behind a structure raises SIGSEGV, and the line of the call is printed.
"""

import ctypes
import errno
import faulthandler
import os
import pathlib
import select
import sys
import tempfile
import time
from ctypes import c_char_p, c_int, c_uint32, c_void_p

from legacy_structs import (AsyncEvent, Context, Device, Guarded, Mr, PortAttr, Qp, QpAttr,
                            QpInitAttr, RecvWr, SendWr, Sge, Srq, SrqAttr, SrqInitAttr, Wc,
                            XrcDomain, libc)

NODE = "IBVERBS_1.1"
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

CALLS = {
    "get_device_list": (c_void_p, c_void_p),
    "free_device_list": (None, c_void_p),
    "open_device": (c_void_p, c_void_p),
    "query_port": (c_int, c_void_p, ctypes.c_uint8, c_void_p),
    "alloc_pd": (c_void_p, c_void_p),
    "create_cq": (c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_int),
    "reg_mr": (c_void_p, c_void_p, c_void_p, ctypes.c_size_t, c_int),
    "open_xrc_domain": (c_void_p, c_void_p, c_int, c_int),
    "close_xrc_domain": (c_int, c_void_p),
    "create_xrc_srq": (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "modify_srq": (c_int, c_void_p, c_void_p, c_int),
    "query_srq": (c_int, c_void_p, c_void_p),
    "destroy_srq": (c_int, c_void_p),
    "create_qp": (c_void_p, c_void_p, c_void_p),
    "modify_qp": (c_int, c_void_p, c_void_p, c_int),
    "query_qp": (c_int, c_void_p, c_void_p, c_int, c_void_p),
    "destroy_qp": (c_int, c_void_p),
    "create_xrc_rcv_qp": (c_int, c_void_p, c_void_p),
    "modify_xrc_rcv_qp": (c_int, c_void_p, c_uint32, c_void_p, c_int),
    "query_xrc_rcv_qp": (c_int, c_void_p, c_uint32, c_void_p, c_int, c_void_p),
    "reg_xrc_rcv_qp": (c_int, c_void_p, c_uint32),
    "unreg_xrc_rcv_qp": (c_int, c_void_p, c_uint32),
    "get_async_event": (c_int, c_void_p, c_void_p),
    "ack_async_event": (None, c_void_p),
    "dereg_mr": (c_int, c_void_p),
    "destroy_cq": (c_int, c_void_p),
    "dealloc_pd": (c_int, c_void_p),
    "close_device": (c_int, c_void_p),
}

libc.dlsym.restype = libc.dlvsym.restype = c_void_p
libc.dlsym.argtypes = [c_void_p, c_char_p]
libc.dlvsym.argtypes = [c_void_p, c_char_p, c_char_p]


class DlInfo(ctypes.Structure):
    _fields_ = [("fname", c_char_p), ("fbase", c_void_p), ("sname", c_char_p), ("saddr", c_void_p)]


def expect(what, got, want):
    assert got == want, f"{what}: {got!r}, it should be {want!r}"


def library_of(address):
    info = DlInfo()
    assert libc.dladdr(c_void_p(address), ctypes.byref(info)), f"{address:#x} is in no library"
    return info.fname.decode()


def call_guarded(what, function, arguments):
    """Calls a function, which must not write beyond a guarded argument."""
    result = function(*(getattr(a, "address", a) for a in arguments))
    for argument in arguments:
        if isinstance(argument, Guarded):
            argument.intact(what)
    return result


class Verbs:
    """The functions, by dlvsym with the version that an old binary asks for. All are looked up at
    once, as MPIs do it, since the shim decides by what a program looks up whether its XRC QPs are
    one-way."""

    def __init__(self):
        self.handle = ctypes.CDLL("libibverbs.so.1")._handle
        for name in CALLS:
            setattr(self, name, getattr(self, name))

    def address(self, name, node=NODE):
        return libc.dlvsym(self.handle, name.encode(), node.encode())

    def __getattr__(self, name):
        found = self.address("ibv_" + name)
        assert found, f"dlvsym finds no ibv_{name} in {NODE}"
        result, *arguments = CALLS[name]
        return ctypes.CFUNCTYPE(result, *arguments, use_errno=True)(found)

    def ok(self, name, *arguments):
        """Calls a verb, which must succeed."""
        ctypes.set_errno(0)
        result = call_guarded(f"ibv_{name}", getattr(self, name), arguments)
        pointer = CALLS[name][0] is c_void_p
        error = (0 if result else ctypes.get_errno() or -1) if pointer else result
        assert not error, f"ibv_{name}: {errno.errorcode.get(error, error)}, errno {ctypes.get_errno()}"
        return result


class Endpoint:
    """An opened device with the objects for a message to itself. Each structure that a verb gets is
    a guarded one."""

    def __init__(self):
        self.verbs = verbs = Verbs()
        devices = verbs.ok("get_device_list", None)
        device = c_void_p.from_address(devices).value
        expect("the device's name by the old offset", Device.from_address(device).name,
               {"connectx3": b"mlx4_0", "connectx5": b"mlx5_0"}[os.environ["SOFTHCA_MODEL"]])
        self.context = verbs.ok("open_device", device)
        verbs.free_device_list(devices)
        port = Guarded(PortAttr)
        verbs.ok("query_port", self.context, 1, port)
        self.lid = port.at.lid
        self.pd = verbs.ok("alloc_pd", self.context)
        self.cq = verbs.ok("create_cq", self.context, 16, None, None, 0)
        self.buffer = ctypes.create_string_buffer(2 * BYTES)
        self.mr = verbs.ok("reg_mr", self.pd, ctypes.addressof(self.buffer), 2 * BYTES, LOCAL_WRITE)
        self.lkey = Mr.from_address(self.mr).lkey
        with tempfile.TemporaryFile() as file:
            self.domain = verbs.ok("open_xrc_domain", self.context, file.fileno(), os.O_CREAT)

    def create_srq(self):
        attr = Guarded(SrqInitAttr)
        attr.at.attr.max_wr, attr.at.attr.max_sge = 5, 1
        self.srq = self.verbs.ok("create_xrc_srq", self.pd, self.domain, self.cq, attr)
        assert attr.at.attr.max_wr >= 5, "ibv_create_xrc_srq did not write max_wr back"

    def create_qps(self):
        # As GASNet does it, which sets nothing but the domain.
        attr, number = Guarded(QpInitAttr), Guarded(c_uint32)
        attr.fill()
        attr.at.xrc_domain = self.domain
        self.verbs.ok("create_xrc_rcv_qp", attr, number)
        self.rcv_qpn = number.at.value
        attr = Guarded(QpInitAttr, send_cq=self.cq, recv_cq=self.cq, qp_type=QPT_XRC,
                       xrc_domain=self.domain)
        attr.at.cap.max_send_wr, attr.at.cap.max_send_sge = 4, 1
        self.qp = self.verbs.ok("create_qp", self.pd, attr)

    def step(self, state, peer):
        attr = Guarded(QpAttr, qp_state=state, port_num=1, path_mtu=3, dest_qp_num=peer, rq_psn=17,
                       sq_psn=17, max_rd_atomic=1, max_dest_rd_atomic=1, min_rnr_timer=12,
                       timeout=14, retry_cnt=7, rnr_retry=7)
        attr.at.ah_attr.dlid, attr.at.ah_attr.port_num = self.lid, 1
        return attr

    def connect(self):
        qpn = Qp.from_address(self.qp).qp_num
        for state in (STATE_INIT, STATE_RTR, STATE_RTS):
            if state != STATE_RTS:
                self.verbs.ok("modify_xrc_rcv_qp", self.domain, self.rcv_qpn, self.step(state, qpn),
                              MASKS[state])
            self.verbs.ok("modify_qp", self.qp, self.step(state, self.rcv_qpn), MASKS[state])
            expect(f"qp->state after the step to {state}", Qp.from_address(self.qp).state, state)

    def slot(self, owner, name, *arguments):
        """Calls owner->context->ops.NAME, as the inline functions of the old header do. context is
        the first member of SRQs, CQs and QPs alike."""
        context = c_void_p.from_address(owner).value
        function = getattr(Context.from_address(context).ops, name)
        assert function, f"context->ops.{name} is NULL"
        call = ctypes.CFUNCTYPE(c_int, c_void_p, c_int if name == "poll_cq" else c_void_p, c_void_p)
        return call_guarded(f"ops.{name}", call(function), (owner, *arguments))

    def post(self, receives=(10, 11)):
        base, bad = ctypes.addressof(self.buffer), Guarded(c_void_p)
        to = Guarded(Sge, addr=base + BYTES, length=BYTES, lkey=self.lkey)
        for number in receives:
            recv = Guarded(RecvWr, wr_id=number, sg_list=to.address, num_sge=1)
            expect("ibv_post_srq_recv", self.slot(self.srq, "post_srq_recv", recv, bad), 0)
        self.buffer[:BYTES] = bytes(i * 5 % 251 for i in range(BYTES))
        source = Guarded(Sge, addr=base, length=BYTES, lkey=self.lkey)
        send = Guarded(SendWr, wr_id=20, sg_list=source.address, num_sge=1, opcode=SEND_WITH_IMM,
                       send_flags=SIGNALED, imm_data=0xCAFE, xrc_remote_srq_num=Srq.from_address(
                           self.srq).xrc_srq_num)
        expect("ibv_post_send", self.slot(self.qp, "post_send", send, bad), 0)

    def completions(self):
        """{wr_id: wc} of the send and the receive."""
        found, end = {}, time.monotonic() + WAIT
        while len(found) < 2 and time.monotonic() < end:
            wc = Guarded(Wc)
            got = self.slot(self.cq, "poll_cq", 1, wc)
            assert got >= 0, f"ibv_poll_cq: {got}"
            if got:
                expect(f"status of {wc.at.wr_id}", wc.at.status, 0)
                found[wc.at.wr_id] = wc.at
            else:
                time.sleep(0.001)
        expect("work requests that completed", sorted(found), [10, 20])
        return found

    def event(self):
        fd = Context.from_address(self.context).async_fd
        assert select.select([fd], [], [], WAIT)[0], f"no asynchronous event within {WAIT} s"
        event = Guarded(AsyncEvent)
        event.fill()
        self.verbs.ok("get_async_event", self.context, event)
        return event

    def exchange(self):
        self.create_srq()
        self.create_qps()
        self.connect()
        self.post()
        return self.completions()

    def finish(self):
        self.verbs.ok("unreg_xrc_rcv_qp", self.domain, self.rcv_qpn)
        for name, thing in (("destroy_qp", self.qp), ("destroy_srq", self.srq),
                            ("close_xrc_domain", self.domain), ("dereg_mr", self.mr),
                            ("destroy_cq", self.cq), ("dealloc_pd", self.pd), ("close_device",
                                                                               self.context)):
            self.verbs.ok(name, thing)


def rows_of(table):
    """The rows of a table of abi/, as lists of words. Indented lines belong to the row before."""
    lines = (line.split("#")[0].split() for line in table.read_text().splitlines()
             if not line[:1].isspace())
    return [line for line in lines if line]


def check_symbols(source_root, shim):
    """Every symbol of the old library, by dlvsym and its node; the eight XRC functions are hidden
    from plain look-ups."""
    verbs = Verbs()
    wrong = [f"{name}@{node}" for name, nodes in rows_of(source_root / "abi" / "ofed-symbols.tab")
             for node in nodes.split(",") if not verbs.address(name, node)]
    assert not wrong, f"not found: {wrong}"
    ours = [
        row for row in rows_of(source_root / "abi" / "symbols.tab")
        if row[0].startswith("ibv_") and row[1] == "IBVERBS_1.1"
    ]
    for name, node, visibility, *_ in ours:
        for handle, where in ((verbs.handle, "handle"), (None, "RTLD_DEFAULT")):
            found = libc.dlvsym(handle, name.encode(), node.encode())
            assert found, f"dlvsym({where}, {name}, {node}) finds nothing"
            expect(f"where {name}@{node} of {where} is", library_of(found), shim)
        plain = libc.dlsym(None, name.encode())
        expect(f"{name}: found by dlsym(RTLD_DEFAULT)", bool(plain and library_of(plain) == shim),
               visibility == "default")
    expect("XRC functions", len([row for row in ours if row[2] == "hidden"]), 8)


def check_domain_and_srq(_source_root, _shim):
    endpoint = Endpoint()
    expect("domain->context", XrcDomain.from_address(endpoint.domain).context, endpoint.context)
    endpoint.create_srq()
    raw = ctypes.string_at(endpoint.srq, 160)
    number = int.from_bytes(raw[32:36], "little")
    assert number, "srq->xrc_srq_num at 32 is 0"
    expect("the SRQ's number at 152, MLNX_OFED's place", int.from_bytes(raw[152:156], "little"),
           number)
    srq = Srq.from_address(endpoint.srq)
    expect("context, pd, xrc_domain, xrc_cq of the SRQ",
           (srq.context, srq.pd, srq.xrc_domain, srq.xrc_cq),
           (endpoint.context, endpoint.pd, endpoint.domain, endpoint.cq))
    attr = Guarded(SrqAttr)
    attr.fill()
    endpoint.verbs.ok("query_srq", endpoint.srq, attr)
    assert attr.at.max_wr >= 5 and attr.at.srq_limit == 0, f"ibv_query_srq: {attr.raw.hex()}"
    expect("closing a busy domain", endpoint.verbs.close_xrc_domain(endpoint.domain), errno.EBUSY)
    endpoint.verbs.ok("destroy_srq", endpoint.srq)
    endpoint.verbs.ok("close_xrc_domain", endpoint.domain)


def check_exchange(_source_root, _shim):
    endpoint = Endpoint()
    done = endpoint.exchange()
    expect("the payload", endpoint.buffer.raw[BYTES:], endpoint.buffer.raw[:BYTES])
    expect("length, immediate and QP of the receive",
           (done[10].byte_len, done[10].imm_data, done[10].qp_num),
           (BYTES, 0xCAFE, endpoint.rcv_qpn))
    expect("QP of the send", done[20].qp_num, Qp.from_address(endpoint.qp).qp_num)
    endpoint.finish()


def check_queries(_source_root, _shim):
    """Today's ibv_qp_attr is longer than the old one, and its ibv_qp_init_attr shorter."""
    endpoint = Endpoint()
    endpoint.exchange()
    attr, init_attr = Guarded(QpAttr), Guarded(QpInitAttr)
    attr.fill()
    init_attr.fill()
    endpoint.verbs.ok("query_qp", endpoint.qp, attr, (1 << 21) - 1, init_attr)
    init_attr.intact("ibv_query_qp")
    expect("state, peer and type", (attr.at.qp_state, attr.at.dest_qp_num, init_attr.at.qp_type),
           (STATE_RTS, endpoint.rcv_qpn, QPT_XRC))
    expect("init_attr.xrc_domain", init_attr.at.xrc_domain, endpoint.domain)
    attr, init_attr = Guarded(QpAttr), Guarded(QpInitAttr)
    endpoint.verbs.ok("query_xrc_rcv_qp", endpoint.domain, endpoint.rcv_qpn, attr, (1 << 21) - 1,
                    init_attr)
    expect("state and peer of the receive QP", (attr.at.qp_state, attr.at.dest_qp_num),
           (STATE_RTR, Qp.from_address(endpoint.qp).qp_num))
    expect("its xrc_domain", init_attr.at.xrc_domain, endpoint.domain)
    endpoint.finish()


def check_events(_source_root, _shim):
    """The first message on a receive QP in RTR raises COMM_EST with the flag and the number; an
    SRQ's event names the SRQ."""
    endpoint = Endpoint()
    endpoint.exchange()
    event = endpoint.event()
    expect("event_type", event.at.event_type, COMM_EST | XRC_FLAG)
    expect("element.xrc_qp_num", event.at.element.xrc_qp_num, endpoint.rcv_qpn)
    endpoint.verbs.ack_async_event(event.address)
    endpoint.verbs.ok("modify_srq", endpoint.srq, Guarded(SrqAttr, srq_limit=1), SRQ_LIMIT)
    attr = Guarded(SrqAttr)
    endpoint.verbs.ok("query_srq", endpoint.srq, attr)
    expect("srq_limit", attr.at.srq_limit, 1)
    endpoint.post(receives=())
    event = endpoint.event()
    expect("event_type", event.at.event_type, SRQ_LIMIT_REACHED)
    expect("element.srq", event.at.element.srq, endpoint.srq)
    endpoint.verbs.ack_async_event(event.address)
    endpoint.finish()


def check_overrun_dies(_source_root, _shim):
    guarded = Guarded(QpInitAttr)
    ctypes.memset(guarded.address, 0, guarded.size + 1)


def check_underrun_is_seen(_source_root, _shim):
    guarded = Guarded(QpInitAttr)
    ctypes.memset(guarded.address - 4, 0, 4)
    guarded.intact("memset")


CHECKS = {name[6:]: value for name, value in list(globals().items()) if name.startswith("check_")}


def main():
    shim, source_root, name = sys.argv[1:]
    preload = os.environ.get("LD_PRELOAD", "")
    if preload.split(":")[0] != shim:
        os.environ["LD_PRELOAD"] = f"{shim}:{preload}".rstrip(":")
        os.execv(sys.executable, [sys.executable, *sys.argv])
    faulthandler.enable()
    try:
        CHECKS[name](pathlib.Path(source_root), shim)
    except AssertionError as error:
        sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main()
