# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The adapter without a guest: tables, the command queue, events, transitions, messages."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import opcodes as op  # noqa: E402
from bench_connectx5 import (BELLS, EVENTS, PD, SHARED, UD, XRC, Driver, two_drivers,  # noqa: E402
                             with_pages)
from bench_driver import remote  # noqa: E402
from connectx5 import CONFIG_REGION, REGISTERS, TARGETS  # noqa: E402
from description import BOOT_PAGES, general  # noqa: E402
from dispatch import BAD_OPCODE, BAD_RESOURCE, BAD_STATE, INTERNAL_ERROR, OK  # noqa: E402
from firmware import EVENT_COMMAND, HEAD  # noqa: E402
from identity import ANSWER, ASK_OBJECT, RAISE_EVENT  # noqa: E402
from qp import (COMPARE_SWAP, ERR, FETCH_ADD, READ, RESET, RTS, SEND, SEND_IMMEDIATE,  # noqa: E402
                WRITE, WRITE_IMMEDIATE)
from queues import (EVENT_COMPLETION, EVENT_CQ_ERROR, EVENT_LAST_WQE, EVENT_SRQ_LIMIT,  # noqa: E402
                    FLUSHED, LOCAL_LENGTH, LOCAL_PROTECTION, REMOTE_ACCESS, REMOTE_INVALID,
                    RETRY_EXCEEDED)
from structures import COMMAND_OUT, DATAGRAM, EQE, GENERAL, HEALTH_COUNTER, RMP, SRQ  # noqa: E402


@pytest.fixture
def driver():
    return Driver()


def test_capability_fields_have_the_offsets_of_mlx5_ifc_h():
    """cmd_hca_cap: log_max_qp at bit 0x9b, xrc at bit 0x23c."""
    data = general()
    assert (data[0x13] & 0x1f, data[0x47] >> 3 & 1) == (18, 1)


def test_query_hca_cap_returns_the_limits_in_mailboxes(driver):
    answer = driver.command(op.QUERY_HCA_CAP, modifier=1, out_length=HEAD + GENERAL.size)
    assert (COMMAND_OUT.get(answer, "status"), answer[HEAD:]) == (OK, bytes(general()))


def test_manage_pages_returns_given_pages(driver):
    assert COMMAND_OUT.get(driver.command(op.QUERY_PAGES, modifier=1), "argument") == BOOT_PAGES
    pages = b"".join((page << 12).to_bytes(8, "big") for page in range(100))
    assert driver.status(op.MANAGE_PAGES, pages, modifier=1, argument=100) == OK
    answer = driver.command(op.MANAGE_PAGES, modifier=2, argument=60, out_length=HEAD + 8 * 60)
    assert (int.from_bytes(answer[8:12], "big"), answer[HEAD:]) == (60, pages[:480])


def test_an_unknown_command_is_refused(driver):
    assert driver.status(0x7ff) == BAD_OPCODE


def test_a_missing_object_is_refused(driver):
    assert driver.status(op.DESTROY_QP, number=0x40) == BAD_RESOURCE
    number = driver.create(op.ALLOC_PD)
    assert driver.status(op.DEALLOC_PD, number=number) == OK
    assert driver.status(op.DEALLOC_PD, number=number) == BAD_RESOURCE


def test_qps_and_srqs_are_numbered_in_one_sequence():
    driver, _ = two_drivers()
    first = driver.qp()
    assert [driver.xrc_srq(5), driver.rmp(), driver.qp()] == [first + 1, first + 2, first + 3]


def test_commands_complete_by_event(driver):
    """The command that makes the queue of these events completes without one: the driver polls for
    it."""
    driver.event_queue(events=1 << EVENT_COMMAND << 192)
    assert driver.raised == []
    driver.command(op.NOP, slot=3)
    event = EQE.parse(driver.memory[EVENTS:])
    assert (driver.raised, event.type, event.first, event.owner) == ([5], EVENT_COMMAND, 1 << 3, 0)


def test_the_owner_bit_of_events_changes_at_each_turn_of_the_ring(driver):
    queue = driver.function.objects["eq"][driver.event_queue()]
    owners = []
    for number in range(4):
        queue.post(type=1, number=number)
        owners.append(EQE.get(driver.memory[EVENTS + EQE.size * (number % 2):], "owner"))
    assert owners == [0, 0, 1, 1]


def test_transitions_to_rts_take_only_their_attributes():
    driver, _ = two_drivers()
    number = driver.qp(XRC, receive_kind=SHARED)
    assert driver.change(op.RST2INIT_QP, number, primary_port=1, migration=3) == OK
    assert driver.change(op.INIT2RTR_QP, number, mtu=5, remote_qpn=0x77, primary_rlid=2,
                         primary_port=1, retry_count=7) == OK
    assert driver.change(op.RTR2RTS_QP, number, optional=1 << 6, retry_count=5, rnr_timer=9,
                         remote_qpn=1) == OK
    context = driver.query_qp(number)
    assert (context.state, context.service, context.pd) == (RTS, XRC, PD)
    assert (context.log_sq, context.primary_port, context.primary_rlid) == (3, 1, 2)
    assert (context.remote_qpn, context.retry_count, context.rnr_timer) == (0x77, 5, 9)


def test_a_transition_is_refused_in_a_wrong_state():
    driver, _ = two_drivers()
    number = driver.qp()
    assert driver.change(op.RTR2RTS_QP, number) == BAD_STATE
    assert driver.change(op.RST2INIT_QP, number, primary_port=1) == OK
    assert driver.change(op.QP_2ERR, number) == OK
    assert driver.query_qp(number).state == ERR
    assert driver.change(op.QP_2RST, number) == OK
    context = driver.query_qp(number)
    assert (context.state, context.pd, context.primary_port) == (RESET, PD, 0)


def first_number(driver, kind):
    """The number of the first object of this kind, from the test registers."""
    driver.function.write(CONFIG_REGION, ASK_OBJECT, (kind << 24).to_bytes(4, "little"))
    return int.from_bytes(driver.function.read(CONFIG_REGION, ANSWER, 4), "little")


def test_the_test_registers_distinguish_xrc_recv_from_xrc_send():
    driver, _ = two_drivers()
    sender, target = driver.qp(XRC), driver.qp(XRC, no_sq=1)
    assert (first_number(driver, 0), first_number(driver, TARGETS)) == (sender, target)


def test_the_limit_event_of_an_srq_disarms_the_limit():
    driver, _ = two_drivers()
    number = driver.rmp()
    assert driver.status(op.MODIFY_RMP, bytes(RMP.build(limit=3)[HEAD:]), number=number) == OK
    assert RMP.get(driver.command(op.QUERY_RMP, number=number, out_length=RMP.size), "limit") == 3
    driver.function.write(CONFIG_REGION, RAISE_EVENT, (EVENT_SRQ_LIMIT << 24 | number).to_bytes(
        4, "little"))
    assert driver.event().number == number
    assert RMP.get(driver.command(op.QUERY_RMP, number=number, out_length=RMP.size), "limit") == 0


def test_the_health_counter_advances(driver):
    driver.function.started -= 10
    before = driver.function.read(REGISTERS, HEALTH_COUNTER, 4)
    driver.function.started -= 10
    assert driver.function.read(REGISTERS, HEALTH_COUNTER, 4) != before


# ---- messages ----

HELLO = b"what is sent crosses the boundary of a page" * 60
REQUEST, WRITTEN, RECEIVED, RECEIVED_IMMEDIATE = 0, 1, 2, 3
RESIZED, BAD_REQUEST, BAD_RESPONSE = 5, 13, 14


def connected(first, second, **fields):
    """Connects the QPs of two drivers; returns the drivers."""
    first.connect(2, second.qpn, **fields)
    second.connect(1, first.qpn)
    return first, second


@pytest.fixture
def pair():
    """Two RC QPs that are connected."""
    first, second = two_drivers()
    first.qp(user_index=0x11)
    second.qp(user_index=0x22)
    return connected(first, second)


def send(sender, receiver, size=4, **fields):
    """Sends a message to a receive of its size."""
    receiver.post_receive(size)
    sender.post_send(SEND, sender.segment(size), **fields)


def inline(data):
    return (1 << 31 | len(data)).to_bytes(4, "big") + data


def test_a_message_arrives(pair):
    sender, receiver = pair
    sender.payload(len(HELLO))[:] = HELLO
    send(sender, receiver, len(HELLO))
    assert bytes(receiver.payload(len(HELLO))) == HELLO
    done, cqe = sender.completion(), receiver.completion()
    assert (done.kind, done.send_opcode, done.qpn, done.user_index,
            done.index) == (REQUEST, SEND, sender.qpn, 0x11, 0)
    assert (cqe.kind, cqe.qpn, cqe.user_index, cqe.bytes) == (RECEIVED, receiver.qpn, 0x22,
                                                                  len(HELLO))
    assert (cqe.slid, cqe.sl, cqe.remote) == (1, 0, sender.qpn)


def test_a_queue_may_begin_within_a_page():
    sender, receiver = two_drivers()
    sender.qp(page_offset=5)
    receiver.qp(page_offset=9)
    connected(sender, receiver, to_rtr={"primary_sl": 3})
    send(sender, receiver)
    assert (receiver.completion().bytes, receiver.completion().sl) == (4, 3)


def test_an_srq_without_its_pages_is_refused(driver):
    assert driver.status(op.CREATE_XRC_SRQ, with_pages(SRQ.build(log_size=1))) == INTERNAL_ERROR


def test_the_send_index_in_the_doorbell_record_wraps_at_16_bits(pair):
    sender, receiver = pair
    sender.posted = sender.function.qps[sender.qpn].sent = 0xffff
    send(sender, receiver)
    assert (sender.completion().index, sender.function.qps[sender.qpn].sent) == (0xffff, 0x10000)


def test_a_request_without_an_answer_exceeds_its_retries(pair):
    sender, receiver = pair
    receiver.change(op.QP_2RST, receiver.qpn)
    qp = sender.function.qps[sender.qpn]
    sender.post_send(SEND, sender.segment(4))
    assert sender.completion().qpn == 0, "no completion yet"
    qp.context.primary_ack_timeout = 14
    qp.since -= 1
    qp.function.wire.engine.run()
    assert (sender.completion().kind, sender.completion().syndrome) == (BAD_REQUEST, RETRY_EXCEEDED)


def test_requests_of_several_sizes_wrap_around_the_ring(pair):
    sender, receiver = pair
    for number in range(12):
        data, units = bytes([number]) * (10 + 50 * (number % 3)), sender.posted
        receiver.post_receive(len(data))
        sender.post_send(SEND_IMMEDIATE, inline(data), immediate=number)
        done, cqe = sender.completion(number % 4), receiver.completion(number % 4)
        assert (done.kind, done.index, done.owner) == (REQUEST, units, number // 4 % 2)
        assert (cqe.kind, cqe.index, cqe.immediate) == (RECEIVED_IMMEDIATE, number % 4, number)
        assert bytes(receiver.payload(len(data))) == data
        for driver in pair:
            driver.number_at(driver.cq_record, number + 1)
    assert units > 16


def test_write_and_read_complete_with_their_data(pair):
    one, other = pair
    one.payload(4)[:] = b"abcd"
    other.post_receive(4)
    one.post_send(WRITE_IMMEDIATE, remote(other, 100), one.segment(4), immediate=9)
    assert bytes(other.payload(4, 100)) == b"abcd"
    assert (other.completion().kind, other.completion().immediate) == (WRITTEN, 9)
    other.payload(4, 100)[:] = b"ABCD"
    one.post_send(READ, remote(other, 100), one.segment(4))
    assert bytes(one.payload(4)) == b"ABCD" and one.completion(1).bytes == 4


def test_atomics_return_the_old_value(pair):
    one, other = pair
    other.payload(8)[:] = (40).to_bytes(8, "little")
    one.post_send(FETCH_ADD, remote(other), (2).to_bytes(8, "big") + bytes(8), one.segment(8))
    one.post_send(COMPARE_SWAP, remote(other), (7).to_bytes(8, "big") + (42).to_bytes(8, "big"),
                  one.segment(8, 8))
    assert bytes(one.payload(16)) == (40).to_bytes(8, "little") + (42).to_bytes(8, "little")
    assert bytes(other.payload(8)) == (7).to_bytes(8, "little")


@pytest.mark.parametrize(
    "fields", [{"free": 1}, {"mode": 2}, {"pd": 8}, {"access": 0x7}, {"length": 3}, {"variant": 1}],
    ids="".join)
def test_a_wrong_key_is_a_remote_access_error(pair, fields):
    one, other = pair
    assert other.key >> 8 > 1, "a key of 0x100 ends a list of segments"
    other.region(**fields)
    one.post_send(WRITE, remote(other), one.segment(4))
    assert (one.completion().kind, one.completion().syndrome) == (BAD_REQUEST, REMOTE_ACCESS)


def test_a_physical_key_of_length_0_reaches_all_memory(pair):
    one, other = pair
    one.region(mode=0, length=0, start=0)
    one.payload(4)[:] = b"phys"
    other.post_receive(4)
    one.post_send(SEND,
                  (4).to_bytes(4, "big") + one.key.to_bytes(4, "big") + one.data.to_bytes(8, "big"))
    assert bytes(other.payload(4)) == b"phys"


def test_a_send_from_a_destroyed_region_is_a_protection_error(pair):
    one, _ = pair
    assert one.status(op.DESTROY_MKEY, number=one.key >> 8) == OK
    one.post_send(SEND, one.segment(4))
    assert one.completion().syndrome == LOCAL_PROTECTION


def failure(driver, index):
    cqe = driver.completion(index)
    return cqe.kind, cqe.syndrome, cqe.index


def test_an_error_flushes_both_sides(pair):
    sender, receiver = pair
    for _ in range(2):
        receiver.post_receive(8)
    sender.post_send(SEND, sender.segment(9))
    sender.post_send(SEND, sender.segment(8))
    assert [failure(sender, index) for index in range(2)] == \
        [(BAD_REQUEST, REMOTE_INVALID, 0), (BAD_REQUEST, FLUSHED, 1)]
    assert [failure(receiver, index) for index in range(2)] == \
        [(BAD_RESPONSE, LOCAL_LENGTH, 0), (BAD_RESPONSE, FLUSHED, 1)]


def xrc(**fields):
    """(an XRC sender, a target with an SRQ, the SRQ's number)"""
    sender, receiver = two_drivers()
    sender.qp(XRC, receive_kind=SHARED, user_index=0x11)
    receiver.qp(XRC, receive_kind=SHARED, no_sq=1, xrcd=5)
    connected(sender, receiver)
    return sender, receiver, receiver.xrc_srq(**{"xrcd": 5, "user_index": 0x33, **fields})


def test_an_xrc_message_takes_a_receive_of_the_srq_it_names():
    sender, receiver, srqn = xrc()
    assert receiver.status(op.ARM_XRC_SRQ, number=srqn, argument=2) == OK
    sender.payload(4)[:] = b"xrc!"
    sender.post_send(SEND, sender.segment(4), srqn=srqn)
    cqe = receiver.completion()
    assert (bytes(receiver.payload(4)), cqe.kind, cqe.qpn,
            cqe.user_index) == (b"xrc!", RECEIVED, receiver.qpn, 0x33)
    assert (receiver.event().type, receiver.event().number) == (EVENT_SRQ_LIMIT, srqn)
    sender.post_send(SEND, sender.segment(4), srqn=srqn)
    assert (bytes(receiver.payload(4, 2048)), receiver.completion(1).index) == (b"xrc!", 1)
    assert (sender.completion().kind, sender.completion().user_index) == (REQUEST, 0x11)


def test_a_failed_xrc_receive_names_its_srq():
    sender, receiver, srqn = xrc()
    sender.post_send(SEND, sender.segment(4096), sender.segment(8), srqn=srqn)
    cqe = receiver.completion()
    assert (cqe.kind, cqe.syndrome, cqe.qpn, cqe.user_index) == (BAD_RESPONSE, LOCAL_LENGTH,
                                                                     receiver.qpn, 0x33)


@pytest.mark.parametrize("kind", ["other domain", "ordinary"])
def test_an_xrc_message_to_a_wrong_srq_is_refused(kind):
    sender, receiver, srqn = xrc(xrcd=6)
    sender.post_send(SEND, sender.segment(4),
                     srqn=srqn if kind == "other domain" else receiver.rmp())
    assert sender.completion().syndrome == REMOTE_INVALID
    assert [receiver.event(index).type for index in range(3)].count(EVENT_LAST_WQE) == 0


def test_a_qp_without_a_send_queue_has_no_send_ring():
    driver, _ = two_drivers()
    number = driver.qp(receive_kind=SHARED, no_sq=1)
    driver.connect(2, 1)
    assert driver.function.qps[number].send_ring is None


def test_an_ordinary_srq_delivers_and_reports_its_last_request():
    sender, receiver = two_drivers()
    sender.qp()
    receiver.qp(receive_kind=SHARED, srqn=receiver.rmp(), user_index=0x22)
    connected(sender, receiver)
    sender.payload(4)[:] = b"rmp!"
    sender.post_send(SEND, sender.segment(4))
    assert (bytes(receiver.payload(4)), receiver.completion().user_index) == (b"rmp!", 0x22)
    sender.post_send(SEND, sender.segment(4))
    assert (bytes(receiver.payload(4, 2048)), receiver.completion(1).index) == (b"rmp!", 1)
    assert receiver.change(op.QP_2ERR, receiver.qpn) == OK
    assert (receiver.event().type, receiver.event().number) == (EVENT_LAST_WQE, receiver.qpn)


@pytest.mark.parametrize("dlid", [2, 0xc001])
def test_a_datagram_arrives_behind_its_header(dlid):
    sender, receiver = two_drivers()
    for driver in (sender, receiver):
        driver.qp(UD, qkey=0x99)
        driver.connect(0, 0, qkey=0x99)
    group = bytes(range(16))
    assert receiver.status(op.ATTACH_TO_MCG, group, number=receiver.qpn) == OK
    assert receiver.function.group_members(1) == []
    receiver.post_receive(100)
    sender.payload(4)[:] = b"ping"
    to = DATAGRAM.build(qkey=0x99, qpn=receiver.qpn if dlid == 2 else 0xffffff, dlid=dlid,
                        has_grh=1, sl=3, dgid=int.from_bytes(group, "big"))
    sender.post_send(SEND, bytes(to), sender.segment(4))
    cqe = receiver.completion()
    assert (cqe.kind, cqe.bytes, cqe.has_grh, cqe.sl, cqe.remote) == (RECEIVED, 44, 1, 3,
                                                                           sender.qpn)
    assert bytes(receiver.payload(20, 24)) == group + b"ping"
    assert receiver.status(op.DETACH_FROM_MCG, group, number=receiver.qpn) == OK
    assert not receiver.function.groups


# ---- completion queues ----

def test_a_cq_raises_one_event_per_arming(pair):
    sender, receiver = pair
    sender.arm(0)
    for _ in range(2):
        send(sender, receiver)
    assert sender.raised == [5]
    assert (sender.event().type, sender.event().number) == (EVENT_COMPLETION, sender.cqn)
    sender.arm(1, consumed=1)
    assert sender.raised == [5, 5], "arming a CQ with an unread completion raises an event at once"


def test_a_cq_armed_for_solicited_messages_ignores_others(pair):
    sender, receiver = pair
    receiver.arm(0, command=1)
    raised = []
    for solicited in (0, 1):
        send(sender, receiver, solicited=solicited)
        raised.append(len(receiver.raised))
    assert raised == [0, 1]


def test_a_doorbell_may_be_written_in_two_words(pair):
    sender, receiver = pair
    receiver.arm(0, command=1)
    for driver, word in ((sender, 0), (receiver, 1 << 28)):
        driver.write(BELLS + 0x20, word)
        driver.write(BELLS + 0x24, driver.cqn)
    send(sender, receiver)
    assert (sender.raised, receiver.raised) == ([5], [5])


def test_both_halves_of_each_doorbell_register_start_the_send_queue(pair):
    sender, _ = pair
    rung = []
    sender.function.wire.engine.ring = rung.append
    for offset in (0x800, 0x900, 0xa00, 0xb00, 0x808):
        sender.function.write(REGISTERS, BELLS + offset, (sender.qpn << 8).to_bytes(8, "big"))
    assert rung == [sender.function.qps[sender.qpn]] * 4


def test_a_write_of_less_than_a_word_is_no_doorbell(pair):
    sender, receiver = pair
    receiver.post_receive(4)
    sender.write(BELLS + 0x20, 0)
    number = sender.cqn.to_bytes(4, "big")
    for size in range(4):
        sender.function.write(REGISTERS, BELLS + 0x24, number[4 - size:])
    sender.post_send(SEND, sender.segment(4))
    assert sender.completion().qpn == sender.qpn and sender.raised == []


def test_a_full_cq_raises_an_error_event(pair):
    sender, receiver = pair
    for _ in range(5):
        send(sender, receiver)
    event = next(event for event in map(sender.event, range(8)) if event.type == EVENT_CQ_ERROR)
    assert (event.first, event.syndrome) == (sender.cqn, 1)
    assert sender.function.qps[sender.qpn].state == ERR


def test_completions_may_have_128_bytes():
    sender, receiver = two_drivers()
    sender.completion_queue(entry=1)
    sender.qp()
    receiver.qp()
    connected(sender, receiver)
    for number in range(2):
        send(sender, receiver)
        assert (sender.completion(number, 128).qpn, sender.completion(
            number, 128).index) == (sender.qpn, number)


def test_resizing_a_cq_ends_its_old_ring(pair):
    sender, receiver = pair
    old = sender.completions
    sender.resize(3)
    send(sender, receiver)
    assert sender.completion(1).qpn == sender.qpn
    sender.completions = old
    assert sender.completion(0).kind == RESIZED


ENDS = {
    "reset": lambda driver: driver.change(op.QP_2RST, driver.qpn),
    "destroyed": lambda driver: driver.status(op.DESTROY_QP, number=driver.qpn),
    "adapter": lambda driver: driver.function.reset()
}


@pytest.mark.parametrize("end", ENDS)
def test_a_waiting_request_ends_with_its_qp(pair, end):
    sender, receiver = pair
    receiver.change(op.QP_2RST, receiver.qpn)
    sender.post_send(SEND, sender.segment(4))
    waiting = sender.function.wire.engine.waiting
    assert waiting
    ENDS[end](sender)
    assert not waiting


def test_reset_restores_the_attributes_that_a_qp_was_created_with(pair):
    sender, _ = pair
    assert sender.change(op.QP_2RST, sender.qpn) == OK
    assert (sender.query_qp(sender.qpn).remote_qpn, sender.query_qp(sender.qpn).log_sq) == (0, 3)
