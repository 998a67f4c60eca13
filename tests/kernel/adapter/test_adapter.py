# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The adapter without a guest: tables, translation, commands, queues and messages."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import hcr  # noqa: E402
import identity  # noqa: E402
from adapter import Wire  # noqa: E402
from bench_driver import ANSWER, CQN, EQN, KEY, QPN, Driver, remote, two_drivers  # noqa: E402
from dispatch import BAD_STATE, INTERNAL_ERROR  # noqa: E402
from layout import Layout  # noqa: E402
from layouts import EQE, QP, QUERY_DEV_CAP  # noqa: E402
from memory import PAGE, Fault  # noqa: E402
from qp import ERR, READ, SEND, TARGET, WRITE, XRC, gather_list  # noqa: E402
from queues import (EVENT_CQ_ERROR, EVENT_SRQ_LIMIT, FLUSHED, LOCAL_LENGTH,  # noqa: E402
                    LOCAL_PROTECTION, REMOTE_ACCESS, REMOTE_INVALID, RNR_EXCEEDED)
from vfio_user import CONFIG_REGION  # noqa: E402

HELLO = b"what is sent crosses the boundary of a page" * 60


def test_a_layout_builds_and_parses_its_fields():
    layout = Layout(8, high=(0, 4, 28, 4), low=(0, 4, 0, 24), last=(6, 2))
    data = layout.build(high=0xa, low=0x123456, last=0xbeef)
    assert data.hex() == "a01234560000beef"
    assert vars(layout.parse(data)) == {"high": 0xa, "low": 0x123456, "last": 0xbeef}
    assert layout.merge(data, bytes(8), layout.mask(["low"])).hex() == "a00000000000beef"
    with pytest.raises(ValueError):
        layout.build(high=0x10)


def test_query_dev_cap_returns_limits_at_the_offsets_of_the_driver():
    data = identity.query_dev_cap()
    assert (data[0x13], data[0x67], data[0x44:0x48].hex()) == (18, 16, "0007030f")
    assert QUERY_DEV_CAP.get(data, "flags") & 1 << 3  # MLX4_DEV_CAP_FLAG_XRC


def test_xrc_can_be_switched_off():
    driver = Driver(Wire(1).functions[0])
    driver.function.write(CONFIG_REGION, identity.XRC_SWITCH, bytes(4))
    driver.must(hcr.QUERY_DEV_CAP)
    assert not QUERY_DEV_CAP.get(driver.memory[ANSWER:ANSWER + QUERY_DEV_CAP.size],
                                 "flags") & identity.XRC


@pytest.fixture
def pair():
    first, second = two_drivers()
    first.connect(2)
    second.connect(1)
    return first, second


def test_a_message_arrives(pair):
    sender, receiver = pair
    sender.payload(len(HELLO))[:] = HELLO
    receiver.post_receive(PAGE)
    sender.post_send(SEND, sender.segment(len(HELLO)))
    assert bytes(receiver.payload(len(HELLO))) == HELLO
    done, cqe = sender.completion(), receiver.completion()
    assert (done.qpn, done.is_send, done.opcode, done.syndrome) == (QPN, 1, SEND, 0)
    assert (cqe.qpn, cqe.is_send, cqe.bytes, cqe.slid, cqe.remote) == (QPN, 0, len(HELLO), 1,
                                                                            QPN)


def test_a_send_is_retried_until_there_is_a_receive(pair):
    sender, receiver = pair
    sender.function.qps[QPN].context.rnr_retry = 7
    sender.post_send(SEND, sender.segment(8))
    assert sender.function.wire.engine.timeout() > 0
    receiver.post_receive(8)
    sender.function.wire.engine.run()
    assert sender.function.wire.engine.timeout() is None and receiver.completion().bytes == 8


def test_a_send_without_rnr_retries_fails(pair):
    sender, _ = pair
    sender.post_send(SEND, sender.segment(8))
    assert sender.completion().syndrome == RNR_EXCEEDED and sender.function.qps[QPN].state == ERR
    sender.post_send(SEND, sender.segment(8), slot=1)
    assert sender.completion(1).syndrome == FLUSHED


def test_write_and_read_move_the_data(pair):
    one, other = pair
    one.payload(4)[:] = b"abcd"
    one.post_send(WRITE, one.segment(4), remote=remote(other, 100))
    assert bytes(other.payload(104)[100:]) == b"abcd"
    other.payload(104)[100:] = b"ABCD"
    one.post_send(READ, one.segment(4), slot=1, remote=remote(other, 100))
    assert bytes(one.payload(4)) == b"ABCD"


@pytest.mark.parametrize("at, size", [(PAGE - 4, 5), (-1, 4), (1 << 30, 1)])
def test_an_access_beyond_the_region_is_a_remote_access_error(pair, at, size):
    one, other = pair
    one.post_send(WRITE, one.segment(size), remote=remote(other, at))
    assert one.completion().syndrome == REMOTE_ACCESS


def test_a_send_from_a_freed_region_is_a_protection_error(pair):
    sender, _ = pair
    sender.must(hcr.HW2SW_MPT, KEY >> 8)
    sender.post_send(SEND, sender.segment(8))
    assert sender.completion().syndrome == LOCAL_PROTECTION


RECEIVE_QPN = TARGET | QPN


@pytest.fixture
def xrc():
    """A sender, and a receiver with a receive QP and SRQ 0x55 in domain 5."""
    sender, receiver = two_drivers()
    sender.connect(2, service=XRC, peer=RECEIVE_QPN)
    receiver.connect(1, service=XRC, qpn=RECEIVE_QPN, xrcd=5)
    receiver.srq(0x55, xrcd=5)
    return sender, receiver


def test_an_xrc_message_takes_a_receive_of_the_srq_it_names(xrc):
    sender, receiver = xrc
    receiver.function.srqs[0x55].limit = 1
    sender.payload(4)[:] = b"xrc!"
    sender.post_send(SEND, sender.segment(4), srqn=0x55)
    cqe = receiver.completion()
    assert bytes(receiver.payload(4)) == b"xrc!" and (cqe.qpn, cqe.remote) == (RECEIVE_QPN, 0x55)
    assert (receiver.event(0).type, receiver.event(0).number) == (EVENT_SRQ_LIMIT, 0x55)


def test_a_failed_xrc_receive_names_its_srq(xrc):
    sender, receiver = xrc
    sender.post_send(SEND, sender.segment(PAGE) + sender.segment(8), srqn=0x55)
    cqe = receiver.completion()
    assert (cqe.syndrome, cqe.qpn, cqe.remote) == (LOCAL_LENGTH, RECEIVE_QPN, 0x55)


def test_an_xrc_message_to_an_srq_of_another_domain_is_refused(xrc):
    sender, receiver = xrc
    receiver.function.srqs[0x55].xrcd = 6
    sender.post_send(SEND, sender.segment(4), srqn=0x55)
    assert sender.completion().syndrome == REMOTE_INVALID


def test_a_cq_raises_one_event_per_arming(pair):
    driver, _ = pair
    cq, raised = driver.function.cqs[CQN], driver.raised
    cq.arm(0, 2, 0)
    assert raised == []
    cq.post(False, qpn=1)
    cq.post(False, qpn=2)
    assert raised == [3] and driver.event(0).number == CQN
    cq.arm(0, 2, 0)
    assert raised == [3], "the driver has not seen the first event yet"
    cq.arm(1, 2, 2)
    assert raised == [3], "it has seen both entries"
    cq.arm(2, 1, 2)
    cq.post(False, qpn=3)
    assert raised == [3], "it waits for a solicited one"
    cq.post(True, qpn=4)
    assert raised == [3, 3]


def test_a_full_cq_raises_an_error_event(pair):
    driver, _ = pair
    cq = driver.function.cqs[CQN]
    assert all(cq.post(False, qpn=1) is True for _ in range(16)) and cq.post(False, qpn=1) is False
    assert (driver.event(0).type, driver.event(0).number) == (EVENT_CQ_ERROR, CQN)


def test_the_owner_bit_of_events_changes_at_each_turn_of_the_ring(pair):
    queue = pair[0].function.eqs[EQN]
    owners = []
    for number in range(2 * queue.ring.count):
        queue.post(type=1, number=number)
        owners.append(EQE.get(queue.ring.slot(number), "owner"))
    assert owners == [0] * queue.ring.count + [1] * queue.ring.count


def test_a_transition_changes_only_its_own_attributes(pair):
    driver, _ = pair
    optional = (1 << 10).to_bytes(4, "big")  # MLX4_QP_OPTPAR_PM_STATE
    driver.must(hcr.RTS2RTS_QP, QPN, optional + bytes(4) + QP.build(migration=3, qkey=5))
    context = driver.function.qps[QPN].context
    assert (context.migration, context.qkey, context.remote_qpn) == (3, 0, QPN)
    assert driver.command(hcr.INIT2RTR_QP, QPN, bytes(8 + QP.size)) == BAD_STATE


def test_inline_data_is_gathered_from_all_segments():
    data = bytearray(128)
    data[16:20], data[20:64] = (1 << 31 | 44).to_bytes(4, "big"), b"a" * 44
    data[64:68], data[68:70] = (1 << 31 | 2).to_bytes(4, "big"), b"bc"
    assert b"".join(gather_list(bytes(data), 16, 80)) == b"a" * 44 + b"bc"


def test_an_access_to_unmapped_memory_is_a_fault(pair):
    driver, _ = pair
    with pytest.raises(Fault):
        driver.function.icm.read(1 << 40, 8)
    assert driver.command(hcr.SW2HW_CQ, CQN, in_param=1 << 40) == INTERNAL_ERROR


def test_a_reset_removes_all_objects(pair):
    driver, _ = pair
    driver.function.write(0, identity.RESET_REGISTER, b"\0\0\0\1")
    assert not driver.function.qps and not driver.function.cqs
    Driver(driver.function)  # its commands succeed again
