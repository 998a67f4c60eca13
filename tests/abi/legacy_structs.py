# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The structures of OFED 1.5.3's verbs.h as ctypes classes, and guarded memory for them."""

import ctypes
import json
import mmap
from ctypes import c_char, c_int, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

PAGE = mmap.PAGESIZE
FILL = 0x5A
FRONT = 256

Mutex = c_uint64 * 5
Cond = c_uint64 * 6


def structure(name, *fields, base=ctypes.Structure):
    return type(name, (base,), {"_fields_": [field[:2] for field in fields]})


def plain(kind, names):
    return tuple((name, kind) for name in names.split())


XrcDomain = structure("ibv_xrc_domain", ("context", c_void_p), ("handle", c_uint32))
Pd = structure("ibv_pd", ("context", c_void_p), ("handle", c_uint32))
Mr = structure("ibv_mr", *plain(c_void_p, "context pd addr"), ("length", c_uint64),
               *plain(c_uint32, "handle lkey rkey"))
Srq = structure("ibv_srq", *plain(c_void_p, "context srq_context pd"),
                *plain(c_uint32, "handle events_completed xrc_srq_num"),
                *plain(c_void_p, "xrc_domain xrc_cq"), ("mutex", Mutex), ("cond", Cond))
Cq = structure("ibv_cq", *plain(c_void_p,
                                "context channel cq_context"), ("handle", c_uint32), ("cqe", c_int),
               *plain(c_uint32, "comp_events_completed async_events_completed"), ("mutex", Mutex),
               ("cond", Cond))
Qp = structure("ibv_qp", *plain(c_void_p, "context qp_context pd send_cq recv_cq srq"),
               *plain(c_uint32, "handle qp_num"), *plain(c_int, "state qp_type"),
               ("events_completed", c_uint32), ("xrc_domain", c_void_p), ("mutex", Mutex),
               ("cond", Cond))
QpCap = structure(
    "ibv_qp_cap",
    *plain(c_uint32, "max_send_wr max_recv_wr max_send_sge max_recv_sge max_inline_data"))
QpInitAttr = structure("ibv_qp_init_attr", *plain(c_void_p,
                                                  "qp_context send_cq recv_cq srq"), ("cap", QpCap),
                       *plain(c_int, "qp_type sq_sig_all"), ("xrc_domain", c_void_p))
GlobalRoute = structure("ibv_global_route", ("dgid", c_uint64 * 2), ("flow_label", c_uint32),
                        *plain(c_uint8, "sgid_index hop_limit traffic_class"))
AhAttr = structure("ibv_ah_attr", ("grh", GlobalRoute), ("dlid", c_uint16),
                   *plain(c_uint8, "sl src_path_bits static_rate is_global port_num"))
QpAttr = structure(
    "ibv_qp_attr", *plain(c_int, "qp_state cur_qp_state path_mtu path_mig_state"),
    *plain(c_uint32, "qkey rq_psn sq_psn dest_qp_num"), ("qp_access_flags", c_int), ("cap", QpCap),
    ("ah_attr", AhAttr), ("alt_ah_attr", AhAttr), *plain(c_uint16, "pkey_index alt_pkey_index"),
    *plain(
        c_uint8,
        "en_sqd_async_notify sq_draining max_rd_atomic max_dest_rd_atomic min_rnr_timer port_num timeout "
        "retry_cnt rnr_retry alt_port_num alt_timeout"))
Sge = structure("ibv_sge", ("addr", c_uint64), *plain(c_uint32, "length lkey"))
SendWr = structure("ibv_send_wr", ("wr_id", c_uint64), *plain(c_void_p, "next sg_list"),
                   *plain(c_int, "num_sge opcode send_flags"), ("imm_data", c_uint32),
                   ("wr", c_uint64 * 4), ("xrc_remote_srq_num", c_uint32))
RecvWr = structure("ibv_recv_wr", ("wr_id", c_uint64), *plain(c_void_p, "next sg_list"),
                   ("num_sge", c_int))
Wc = structure("ibv_wc", ("wr_id", c_uint64), *plain(c_int, "status opcode"),
               *plain(c_uint32, "vendor_err byte_len imm_data qp_num src_qp"), ("wc_flags", c_int),
               *plain(c_uint16, "pkey_index slid"), *plain(c_uint8, "sl dlid_path_bits"))
SrqAttr = structure("ibv_srq_attr", *plain(c_uint32, "max_wr max_sge srq_limit"))
SrqInitAttr = structure("ibv_srq_init_attr", ("srq_context", c_void_p), ("attr", SrqAttr))
Element = structure("element", *plain(c_void_p, "cq qp srq"), ("port_num", c_int),
                    ("xrc_qp_num", c_uint32), base=ctypes.Union)
AsyncEvent = structure("ibv_async_event", ("element", Element), ("event_type", c_uint32))
PortAttr = structure(
    "ibv_port_attr", *plain(c_int, "state max_mtu active_mtu gid_tbl_len"),
    *plain(c_uint32, "port_cap_flags max_msg_sz bad_pkey_cntr qkey_viol_cntr"),
    *plain(c_uint16, "pkey_tbl_len lid sm_lid"),
    *plain(
        c_uint8,
        "lmc max_vl_num sm_sl subnet_timeout init_type_reply active_width active_speed phys_state link_layer pad"
    ))
ContextOps = structure(
    "ibv_context_ops",
    *plain(
        c_void_p,
        "query_device query_port alloc_pd dealloc_pd reg_mr rereg_mr dereg_mr alloc_mw bind_mw dealloc_mw create_cq "
        "poll_cq req_notify_cq cq_event resize_cq destroy_cq create_srq modify_srq query_srq destroy_srq "
        "post_srq_recv create_qp query_qp modify_qp destroy_qp post_send post_recv create_ah destroy_ah "
        "attach_mcast detach_mcast async_event"))
Context = structure("ibv_context", ("device", c_void_p), ("ops", ContextOps),
                    *plain(c_int, "cmd_fd async_fd num_comp_vectors"), ("mutex", Mutex),
                    *plain(c_void_p, "abi_compat more_ops"))
Device = structure("ibv_device", ("ops", c_void_p * 2), *plain(c_int, "node_type transport_type"),
                   ("name", c_char * 64), ("dev_name", c_char * 64), ("dev_path", c_char * 256),
                   ("ibdev_path", c_char * 256))

CLASSES = [
    XrcDomain, Pd, Mr, Srq, Cq, Qp, QpCap, QpInitAttr, GlobalRoute, AhAttr, QpAttr, Sge, SendWr,
    RecvWr, Wc, SrqAttr, SrqInitAttr, AsyncEvent, PortAttr, ContextOps, Context, Device
]


def reference(source_root):
    """{structure: {"size": bytes, "fields": {field: [offset, size]}}} as measured from OFED's own
    header on x86_64."""
    with open(source_root / "abi" / "reference" / "ofed-1.5.3.json", encoding="utf-8") as file:
        return json.load(file)["abi"]["x86_64"]


def differences(cls, measured):
    """The differences of a class from what was measured, a line each."""
    found = []
    if ctypes.sizeof(cls) != measured["size"]:
        found.append(f"{cls.__name__}: {ctypes.sizeof(cls)} bytes, OFED's has {measured['size']}")
    for name, (offset, size) in measured["fields"].items():
        outer, _, inner = name.partition(".")
        here = getattr(cls, outer, None)
        if here is not None and inner:
            here = getattr(dict(cls._fields_)[outer], inner, None)
        if here is None:
            found.append(f"{cls.__name__}.{name}: missing, OFED has it at {offset}")
        elif (here.offset, here.size) != (offset, size):
            found.append(
                f"{cls.__name__}.{name}: {here.size} bytes at {here.offset}, OFED's has {size} at {offset}"
            )
    return found


libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = c_void_p
libc.mmap.argtypes = [c_void_p, ctypes.c_size_t, c_int, c_int, c_int, ctypes.c_long]
libc.mprotect.argtypes = [c_void_p, ctypes.c_size_t, c_int]


class Guarded:
    """A structure of exactly the old size. The page behind it cannot be accessed; the bytes before
    it are known, and intact() checks them. `at` is the structure, `raw` its bytes."""

    def __init__(self, cls, **values):
        self.size = ctypes.sizeof(cls)
        self.page = libc.mmap(None, 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE,
                              mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        assert self.page not in (None, c_void_p(-1).value), "mmap failed"
        assert libc.mprotect(self.page + PAGE, PAGE, 0) == 0, "mprotect failed"
        self.address = self.page + PAGE - self.size
        ctypes.memset(self.page, FILL, PAGE)
        self.name = cls.__name__
        self.at = cls.from_address(self.address)
        ctypes.memset(self.address, 0, self.size)
        for name, value in values.items():
            setattr(self.at, name, value)

    def fill(self):
        """Fills it with known bytes, for a structure that a verb only writes."""
        ctypes.memset(self.address, FILL, self.size)

    @property
    def raw(self):
        return ctypes.string_at(self.address, self.size)

    def intact(self, call):
        front = ctypes.string_at(self.address - FRONT, FRONT)
        broken = [place - FRONT for place, byte in enumerate(front) if byte != FILL]
        assert not broken, f"{call} wrote before its {self.name}, at offsets {broken}"
