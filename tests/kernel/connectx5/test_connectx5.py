# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The adapter without a guest: tables, the command queue, events, transitions."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from connectx5 import ANSWER, ASK_OBJECT, CONFIG_REGION, RAISE_EVENT, REGISTERS, ConnectX5, Wire  # noqa: E402
from description import BOOT_PAGES, general  # noqa: E402
from firmware import BAD_OPCODE, BAD_RESOURCE, BAD_STATE, EVENT_COMMAND, HEAD, OK  # noqa: E402
from structures import (ASKED, BLOCK, BLOCK_DATA, COMMAND_BELL, ENTRY, EQ, EQE, GENERAL, HEALTH_COUNTER, QP, QP_AT, QUEUE_HIGH, QUEUE_LOW,  # noqa: E402
                        RMP, TOLD)

SIZE, QUEUE, QUESTION, REPLY, EVENTS = 1 << 20, 0x1000, 0x10000, 0x20000, 0x30000
BLOCK_STEP = 0x400


class Driver:
    """The least of mlx5_core: memory, the command queue and its mailboxes."""

    def __init__(self):
        self.function = Wire(1, 1, ConnectX5).functions[0]
        self.function.server = self
        self.raised = []
        fd = os.memfd_create("guest")
        os.ftruncate(fd, SIZE)
        self.function.guest.add(0, SIZE, fd, 0)
        os.close(fd)
        self.memory = self.function.guest.view(0, SIZE)
        self.write(QUEUE_HIGH, 0)
        self.write(QUEUE_LOW, QUEUE)

    def interrupt(self, vector):
        self.raised.append(vector)

    def write(self, offset, word):
        self.function.write(REGISTERS, offset, word.to_bytes(4, "big"))

    def _chain(self, at, size):
        """Addresses of the blocks for @size bytes, linked."""
        found = [at + BLOCK_STEP * number for number in range((size + BLOCK_DATA - 1) // BLOCK_DATA)]
        for here, following in zip(found, [*found[1:], 0]):
            BLOCK.put(self.memory[here:here + BLOCK.size], next=following)
        return found

    def command(self, opcode, more=b"", out_length=HEAD, slot=0, **fields):
        """The answer, whole."""
        data = bytes(ASKED.build(opcode=opcode, **fields)) + more
        for number, at in enumerate(self._chain(QUESTION, len(data) - HEAD)):
            part = data[HEAD + BLOCK_DATA * number:][:BLOCK_DATA]
            self.memory[at:at + len(part)] = part
        replies = self._chain(REPLY, out_length - HEAD)
        entry = self.memory[QUEUE + slot * ENTRY.size:][:ENTRY.size]
        entry[:] = ENTRY.build(in_length=len(data), in_blocks=QUESTION, out_blocks=REPLY, out_length=out_length, owner=1,
                               question=int.from_bytes(data[:HEAD], "big"))
        self.write(COMMAND_BELL, 1 << slot)
        assert (ENTRY.get(entry, "owner"), ENTRY.get(entry, "status")) == (0, OK)
        return (bytes(entry[32:48]) + b"".join(bytes(self.memory[at:at + BLOCK_DATA]) for at in replies))[:out_length]

    def status(self, *words, **kw):
        return TOLD.get(self.command(*words, **kw), "status")

    def made(self, opcode, more=b""):
        answer = self.command(opcode, more)
        assert TOLD.get(answer, "status") == OK
        return TOLD.get(answer, "number")

    def event_queue(self, events=0, log_size=1):
        body = EQ.build(log_size=log_size, vector=5, events=events) + EVENTS.to_bytes(8, "big")
        return self.made(0x301, bytes(body[HEAD:]))

    def change(self, opcode, number, optional=0, **fields):
        body = optional.to_bytes(4, "big").ljust(QP_AT - HEAD, b"\0") + QP.build(**fields)
        return self.status(opcode, body, number=number)

    def queried(self, number):
        return QP.parse(self.command(0x50b, out_length=0x110, number=number)[QP_AT:])


@pytest.fixture
def driver():
    return Driver()


def qp_body(**fields):
    return bytes(QP_AT - HEAD) + QP.build(**fields)


def test_fields_are_where_the_header_has_them():
    """cmd_hca_cap: log_max_qp at bit 0x9b, xrc at bit 0x23c."""
    data = general()
    assert (data[0x13] & 0x1f, data[0x47] >> 3 & 1) == (18, 1)


def test_limits_come_through_the_mailboxes(driver):
    answer = driver.command(0x100, modifier=1, out_length=HEAD + GENERAL.size)
    assert (TOLD.get(answer, "status"), answer[HEAD:]) == (OK, bytes(general()))


def test_pages_come_back(driver):
    assert TOLD.get(driver.command(0x107, modifier=1), "argument") == BOOT_PAGES
    pages = b"".join((page << 12).to_bytes(8, "big") for page in range(100))
    assert driver.status(0x108, pages, modifier=1, argument=100) == OK
    answer = driver.command(0x108, modifier=2, argument=60, out_length=HEAD + 8 * 60)
    assert (int.from_bytes(answer[8:12], "big"), answer[HEAD:]) == (60, pages[:480])


def test_an_unknown_command_is_refused(driver):
    assert driver.status(0x7ff) == BAD_OPCODE


def test_what_is_not_there_is_refused(driver):
    assert driver.status(0x501, number=0x40) == BAD_RESOURCE
    number = driver.made(0x500, qp_body())
    assert driver.status(0x501, number=number) == OK and driver.status(0x501, number=number) == BAD_RESOURCE


def test_qps_and_srqs_share_their_numbers(driver):
    first = driver.made(0x500, qp_body())
    assert [driver.made(0x705), driver.made(0x90c), driver.made(0x500, qp_body())] == [first + 1, first + 2, first + 3]


def test_commands_complete_by_event(driver):
    """But not the one that makes their queue: the driver polls for it."""
    driver.event_queue(events=1 << EVENT_COMMAND << 192)
    assert driver.raised == []
    driver.command(0x80d, slot=3)
    event = EQE.parse(driver.memory[EVENTS:])
    assert (driver.raised, event.type, event.content >> 192, event.owner) == ([5], EVENT_COMMAND, 1 << 3, 0)


def test_the_owner_bit_turns_with_the_ring(driver):
    queue = driver.function.objects["eq"][driver.event_queue()]
    owners = []
    for number in range(4):
        queue.post(1, number)
        owners.append(EQE.get(driver.memory[EVENTS + EQE.size * (number % 2):], "owner"))
    assert owners == [0, 0, 1, 1]


def test_a_qp_comes_to_send(driver):
    number = driver.made(0x500, qp_body(service=3, pd=7, log_sq=4))
    assert driver.change(0x502, number, primary_port=1, migration=3) == OK
    assert driver.change(0x503, number, mtu=5, remote_qpn=0x77, primary_rlid=2, primary_port=1, retry_count=7) == OK
    assert driver.change(0x504, number, optional=1 << 6, retry_count=5, rnr_timer=9, remote_qpn=1) == OK
    said = driver.queried(number)
    assert (said.state, said.service, said.pd, said.log_sq, said.primary_port, said.primary_rlid) == (3, 3, 7, 4, 1, 2)
    assert (said.remote_qpn, said.retry_count, said.rnr_timer) == (0x77, 5, 9)


def test_a_transition_that_is_none(driver):
    number = driver.made(0x500, qp_body(pd=7))
    assert driver.change(0x504, number) == BAD_STATE
    assert driver.change(0x502, number, primary_port=1) == OK
    assert driver.change(0x507, number) == OK and driver.queried(number).state == 6
    assert driver.change(0x50a, number) == OK
    said = driver.queried(number)
    assert (said.state, said.pd, said.primary_port) == (0, 7, 0)


def asked(driver, kind):
    """What the registers of ours answer to the first question."""
    driver.function.write(CONFIG_REGION, ASK_OBJECT, (kind << 24).to_bytes(4, "little"))
    return int.from_bytes(driver.function.read(CONFIG_REGION, ANSWER, 4), "little")


def test_an_xrc_receive_qp_is_told_from_a_sender(driver):
    sender, target = driver.made(0x500, qp_body(service=3)), driver.made(0x500, qp_body(service=3, no_sq=1))
    assert (asked(driver, 0), asked(driver, 3)) == (sender, target)


def test_a_limit_is_used_up_by_its_event(driver):
    number = driver.made(0x90c)
    assert driver.status(0x90d, bytes(RMP.build(limit=3)[HEAD:]), number=number) == OK
    assert RMP.get(driver.command(0x90f, number=number, out_length=RMP.size), "limit") == 3
    driver.event_queue(events=1 << 0x14 << 192)
    driver.function.write(CONFIG_REGION, RAISE_EVENT, (0x14 << 24 | number).to_bytes(4, "little"))
    assert EQE.parse(driver.memory[EVENTS:]).content == number
    assert RMP.get(driver.command(0x90f, number=number, out_length=RMP.size), "limit") == 0


def test_the_health_counter_moves(driver):
    driver.function.started -= 10
    later = driver.function.read(REGISTERS, HEALTH_COUNTER, 4)
    driver.function.started -= 10
    assert driver.function.read(REGISTERS, HEALTH_COUNTER, 4) != later
