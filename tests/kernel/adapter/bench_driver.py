# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A minimal driver: it gives an adapter memory, commands and work, as mlx4_core, mlx4_ib and
libmlx4 do."""

import os

import hcr
import identity
from adapter import DOORBELLS, REGISTERS, Wire
from layouts import CONTROL, CQ, CQE, EQ, EQE, HCR, ICM_CHUNK, INIT_HCA, MPT, QP, REMOTE, SRQ
from memory import PAGE

SIZE = 4 << 20
# addresses of context memory are those of the guest's memory
MAILBOX, ANSWER, RECORDS, MTT, DMPT = 0x1000, 0x2000, 0x3000, 0x10000, 0x20000
FREE = 0x40000
QPN, CQN, EQN, KEY, PD = 0x40, 0x80, 0x8, 0x200, 7


class Machine:
    """A function and its memory. It stands for the connection to QEMU."""

    def __init__(self, function, size):
        self.function, self.raised = function, []
        function.server = self
        fd = os.memfd_create("guest")
        os.ftruncate(fd, size)
        function.guest.add(0, size, fd, 0)
        os.close(fd)
        self.memory = function.guest.view(0, size)

    def interrupt(self, vector):
        self.raised.append(vector)

    def segment(self, size, at=0):
        """A segment of the region: @size bytes, @at bytes into it."""
        return size.to_bytes(4, "big") + self.key.to_bytes(4, "big") + (self.address + at).to_bytes(
            8, "big")


class Driver(Machine):
    """One function with a QP, a CQ, an event queue and a region over a page of data."""

    def __init__(self, function):
        super().__init__(function, SIZE)
        self.next_page, self.next_mtt, self.next_record = FREE, 0, RECORDS
        self.start()

    def command(self, opcode, modifier=0, data=None, in_param=MAILBOX):
        """Gives a command by the command register; returns its status."""
        if data is not None:
            self.memory[MAILBOX:MAILBOX + len(data)] = data
        register = HCR.build(in_param=in_param, in_modifier=modifier, out_param=ANSWER, go=1,
                             opcode=opcode)
        for at in range(0, HCR.size, 4):
            self.function.write(REGISTERS, identity.HCR + at, bytes(register[at:at + 4]))
        answer = self.function.read(REGISTERS, identity.HCR, HCR.size)
        assert not HCR.get(answer, "go")
        return HCR.get(answer, "status")

    def must(self, *words, **kw):
        assert self.command(*words, **kw) == 0

    def pages(self, count):
        """Allocates @count pages: (address, offset in the MTT)."""
        address, mtt = self.next_page, self.next_mtt
        for page in range(count):
            entry = MTT + mtt + 8 * page
            self.memory[entry:entry + 8] = (address + page * PAGE | 1).to_bytes(8, "big")
        self.next_page, self.next_mtt = address + count * PAGE, mtt + 8 * count
        return address, mtt

    def record(self):
        self.next_record += 8
        return self.next_record - 8

    def start(self):
        self.must(hcr.MAP_ICM, 1, ICM_CHUNK.build(virtual=0, physical=0, log_pages=10))
        self.must(hcr.INIT_HCA, 0, INIT_HCA.build(dmpt_base=DMPT, log_mpts=8, mtt_base=MTT))
        self.events, mtt = self.pages(1)
        self.must(hcr.SW2HW_EQ, EQN, EQ.build(log_size=4, vector=3, mtt=mtt))
        self.must(hcr.MAP_EQ, EQN, in_param=(1 << 64) - 1)
        self.cq_record, (self.completions, mtt) = self.record(), self.pages(1)
        self.must(hcr.SW2HW_CQ, CQN, CQ.build(log_size=4, eqn=EQN, mtt=mtt, record=self.cq_record))
        self.data, mtt = self.pages(2)
        self.must(
            hcr.SW2HW_MPT, KEY >> 8,
            MPT.build(owner=0xf, access=0x1f, key=KEY >> 8, pd=PD, start=0x70000800, length=PAGE,
                      mtt=mtt, log_page=12))
        self.address, self.key = 0x70000800, KEY

    def connect(self, lid, service=0, qpn=QPN, peer=QPN, **fields):
        self.qp_record, (self.ring, mtt) = self.record(), self.pages(1)
        context = {
            "service": service, "pd": PD, "log_rq": 2, "log_rq_stride": 0, "log_sq": 2,
            "log_sq_stride": 2, "send_cqn": CQN, "receive_cqn": CQN, "record": self.qp_record,
            "mtt": mtt, "remote_write": 1, "remote_read": 1, **fields
        }
        self.must(hcr.RST2INIT_QP, qpn, bytes(8) + QP.build(**context))
        context = QP.build(mtu=3, remote_qpn=peer, primary_rlid=lid)
        self.must(hcr.INIT2RTR_QP, qpn, bytes(8) + context)
        self.must(hcr.RTR2RTS_QP, qpn, bytes(8) + QP.build())
        for slot in range(4):
            self.memory[self.ring + 64 * slot] = 0x80

    def srq(self, number, xrcd):
        record, (self.srq_ring, mtt) = self.record(), self.pages(1)
        self.must(
            hcr.SW2HW_SRQ, number,
            SRQ.build(log_size=2, log_stride=1, xrcd=xrcd, cqn=CQN, mtt=mtt, pd=PD, record=record))
        segment = self.segment(PAGE)
        self.memory[self.srq_ring + 16:self.srq_ring + 32] = segment
        self.memory[record + 3] = 1

    def post_receive(self, size):
        at = self.ring + 256
        self.memory[at:at + 16] = self.segment(size)
        self.memory[self.qp_record + 3] += 1

    def post_send(self, opcode, segment, slot=0, srqn=0, remote=b"", qpn=QPN):
        data = CONTROL.build(owner=0, opcode=opcode, units=(16 + len(remote) + len(segment)) // 16,
                             srqn=srqn, signalled=3) + remote + segment
        at = self.ring + 64 * slot
        self.memory[at:at + len(data)] = data
        self.function.write(DOORBELLS, 0x14, (qpn << 8).to_bytes(4, "big"))
        self.function.wire.engine.run()

    def completion(self, index=0):
        return CQE.parse(self.memory[self.completions + 32 * index:])

    def event(self, index):
        return EQE.parse(self.memory[self.events + 32 * index:])

    def payload(self, size):
        """The first bytes of the region. The region does not begin where its first page does."""
        return self.memory[self.data + 0x800:self.data + 0x800 + size]


def two_drivers():
    wire = Wire(2)
    return [Driver(function) for function in wire.functions]


def remote(driver, at=0):
    return bytes(REMOTE.build(address=driver.address + at, key=driver.key))
