/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A daemon died in the middle of a completion: what it had written is delivered, the rest is flushed, and nothing twice. */

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <softhca/client/client.h>
#include <softhca/ledger.h>
#include <softhca/model/model.h>
#include <softhca/proto.h>

#include "../unit.h"
#include "memory.h"

#define ENTRIES 8u
#define SENDS	3u

static uint8_t ring[ENTRIES * 64], queue[16 * 64];
static uint32_t consumer[2], posted[2];
static int fd;
static struct ledger *daemons; /* the ledger as the daemon left it */

const struct real_calls *real(void)
{
	static const struct real_calls calls = { .mmap64 = mmap64, .munmap = munmap };

	return &calls;
}

static uint64_t at(const void *memory)
{
	return (uint64_t)(uintptr_t)memory;
}

/* A ConnectX-5 whose program has posted three sends of one unit each; none is done, no completion is written. */
FIXTURE(setup)
{
	const off_t place = (off_t)SOFTHCA_UAR_LEN * SOFTHCA_UAR_PAGES;

	fd = memfd_create("ledger", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, place + (off_t)LEDGER_BYTES), 0);
	daemons = mmap(NULL, LEDGER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, place);
	assert_ptr_not_equal(daemons, MAP_FAILED);
	memset(ring, 0xf0, sizeof(ring));
	for (size_t i = 0; i < sizeof(queue) / 64; i++)
		queue[i * 64 + 7] = 2; /* of 16 bytes */
	consumer[0] = 0;
	posted[1] = htobe32(SENDS);
	for (uint32_t i = 0; models[i]; i++) {
		if (models[i] == &connectx5)
			daemons->model = i;
	}
	daemons->cqe_version = 1;
	daemons->cqs = daemons->qps = 1;
	daemons->cq[0] = (struct ledger_cq){
		.buffer = at(ring), .record = at(consumer), .used = 1, .size = ENTRIES, .entry = 64, .coming = LEDGER_NOTHING,
	};
	daemons->qp[0] = (struct ledger_qp){
		.sq = { .buffer = at(queue), .record = at(&posted[1]), .count = 16, .shift = 6 },
		.used = 1, .active = 1, .qpn = 0x1234, .recv_cq = LEDGER_NOTHING,
	};
	return 0;
}

FIXTURE(teardown)
{
	munmap(daemons, LEDGER_BYTES);
	close(fd);
	return 0;
}

/* What the daemon writes for the first send. */
static void write_success(void)
{
	const struct cqe cqe = { .qpn = 0x1234, .send = true, .opcode = OP_SEND };
	const struct cqe_format format = { 64, false, 1 };

	connectx5.build_cqe(&cqe, &format, ring);
}

static void take_over(void)
{
	struct ledger *ledger = flush_open(fd);

	assert_non_null(ledger);
	flush_posted(ledger);
	flush_posted(ledger); /* nothing comes twice */
	flush_close(ledger);
}

#define OPCODE(entry) (ring[(entry) * 64 + 63] >> 4)
enum { DONE = 0, SEND_ERROR = 13, RECEIVE_ERROR = 14, NONE = 15 };

static void check(uint8_t first, uint8_t second, uint8_t third)
{
	assert_int_equal(OPCODE(0), first);
	assert_int_equal(OPCODE(1), second);
	assert_int_equal(OPCODE(2), third);
	assert_int_equal(OPCODE(3), NONE);
	assert_int_equal(daemons->cq[0].producer, SENDS);
	assert_int_equal(daemons->qp[0].sq.next, SENDS);
}

TEST(nothing_was_done)
{
	take_over();
	check(SEND_ERROR, SEND_ERROR, SEND_ERROR);
	assert_int_equal(ring[2 * 64 + 61], 2); /* its index in the send queue */
}

/* How far the daemon came with the completion of the first send before it died. */
enum step { ANNOUNCED, WRITTEN, NOTED_IN_THE_QUEUE, NOTED };

static void complete_first(enum step last)
{
	daemons->cq[0].coming_next = 1;
	daemons->cq[0].coming = 0 | LEDGER_SEND;
	if (last >= WRITTEN)
		write_success();
	if (last >= NOTED_IN_THE_QUEUE)
		daemons->qp[0].sq.next = 1;
	if (last >= NOTED)
		daemons->cq[0].producer = 1;
}

TEST(announced_but_not_written)
{
	complete_first(ANNOUNCED);
	take_over();
	check(SEND_ERROR, SEND_ERROR, SEND_ERROR);
}

TEST(written_but_not_noted)
{
	complete_first(WRITTEN);
	take_over();
	check(DONE, SEND_ERROR, SEND_ERROR);
}

TEST(noted_in_the_queue_only)
{
	complete_first(NOTED_IN_THE_QUEUE);
	take_over();
	check(DONE, SEND_ERROR, SEND_ERROR);
}

TEST(noted_as_a_whole)
{
	complete_first(NOTED);
	daemons->qp[0].sq.next = 2; /* one more was done, which had asked for no completion */
	take_over();
	assert_int_equal(OPCODE(1), SEND_ERROR);
	assert_int_equal(OPCODE(2), NONE);
	assert_int_equal(daemons->qp[0].sq.next, SENDS);
}

/* Newer libraries find a receive by its index in the ring, not by counting. */
TEST(receives_have_their_index)
{
	posted[0] = htobe32(7);
	posted[1] = 0;
	daemons->qp[0].rq = (struct ledger_queue){ .buffer = at(queue), .record = at(posted), .count = 8, .shift = 4, .next = 5 };
	daemons->qp[0].recv_cq = 0;
	take_over();
	assert_int_equal(OPCODE(0), RECEIVE_ERROR);
	assert_int_equal(OPCODE(1), RECEIVE_ERROR);
	assert_int_equal(OPCODE(2), NONE);
	assert_int_equal(ring[61], 5);
	assert_int_equal(ring[64 + 61], 6);
}

/* Rings in RESET hold old requests. */
TEST(a_qp_in_reset_has_nothing)
{
	daemons->qp[0].active = 0;
	take_over();
	assert_int_equal(OPCODE(0), NONE);
}

/* A completion that the program has not polled is not overwritten. */
TEST(a_full_cq_is_waited_for)
{
	struct ledger *ledger;

	posted[1] = htobe32(ENTRIES + 2);
	ledger = flush_open(fd);
	flush_posted(ledger);
	assert_int_equal(daemons->qp[0].sq.next, ENTRIES);
	consumer[0] = htobe32(1);
	flush_posted(ledger);
	assert_int_equal(daemons->qp[0].sq.next, ENTRIES + 1);
	assert_int_equal(ring[63] & 1, 1); /* the second time round the ring */
	flush_close(ledger);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_was_done), CASE(announced_but_not_written), CASE(written_but_not_noted),
		CASE(noted_in_the_queue_only), CASE(noted_as_a_whole), CASE(receives_have_their_index),
		CASE(a_qp_in_reset_has_nothing), CASE(a_full_cq_is_waited_for),
	};

	if (!memory_is_readable()) {
		puts("process_vm_readv() does not work here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
