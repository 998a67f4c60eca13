/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A legacy program and today's library find the same fields in the same memory. */
#include <string.h>

#include <abi/legacy.h>

#include "../unit.h"

static uint32_t word_at(const void *object, size_t offset)
{
	uint32_t word;

	memcpy(&word, (const char *)object + offset, sizeof(word));
	return word;
}

/*
 * The work request is posted unchanged, so the provider must find the SRQ's number where the old
 * program put it.
 */
TEST(old_send_wr_read_by_provider)
{
	union {
		struct legacy_send_wr old;
		struct ibv_send_wr now;
	} wr = { 0 };

	wr.old.wr_id = 0x1122334455667788;
	wr.old.num_sge = 3;
	wr.old.opcode = IBV_WR_RDMA_WRITE;
	wr.old.imm_data = 0xabcdef01;
	wr.old.wr.rdma.remote_addr = 0x1000;
	wr.old.wr.rdma.rkey = 77;
	wr.old.xrc_remote_srq_num = 0x123456;
	assert_int_equal(wr.now.wr_id, 0x1122334455667788);
	assert_int_equal(wr.now.num_sge, 3);
	assert_int_equal(wr.now.opcode, IBV_WR_RDMA_WRITE);
	assert_int_equal(wr.now.imm_data, 0xabcdef01);
	assert_int_equal(wr.now.wr.rdma.remote_addr, 0x1000);
	assert_int_equal(wr.now.wr.rdma.rkey, 77);
	assert_int_equal(wr.now.qp_type.xrc.remote_srqn, 0x123456);
}

/* In an array of old work requests, the provider must not read the next one. */
TEST(the_xrc_fields_lie_inside_the_old_send_wr)
{
	assert_true(offsetof(struct ibv_send_wr, qp_type) +
			    sizeof(((struct ibv_send_wr *)0)->qp_type) <=
		    sizeof(struct legacy_send_wr));
	assert_true(offsetof(struct ibv_send_wr, bind_mw) >= sizeof(struct legacy_send_wr));
}

/* In MLNX_OFED's layout the number follows a mutex, whose size depends on the C library. */
#define MLNX_NUMBER_AT (sizeof(void *) == 8 ? 112 + sizeof(pthread_mutex_t) : 108)

/* Binaries of both dialects read the number from the same image. */
TEST(srq_number_for_both_dialects)
{
	union {
		struct legacy_srq ofed;
		struct legacy_mlnx_srq mlnx;
	} image = { 0 };

	image.ofed.handle = 5;
	image.ofed.xrc_srq_num = 0x42;
	image.mlnx.xrc_srq_num = 0x42;
	assert_int_equal(word_at(&image, sizeof(void *) == 8 ? 32 : 20), 0x42);
	assert_int_equal(word_at(&image, MLNX_NUMBER_AT), 0x42);
	assert_int_equal(image.mlnx.handle, 5);
}

/* Today's library neither reads nor writes xrc_domain. */
TEST(domain_lies_behind_todays_init_attr)
{
	struct legacy_qp_init_attr attr = { .qp_type = LEGACY_QPT_XRC,
					    .xrc_domain = (void *)0x1234 };
	struct ibv_qp_init_attr now;

	memcpy(&now, &attr, sizeof(now));
	assert_int_equal(now.qp_type, 5);
	memset(&attr, 0xff, sizeof(now));
	assert_ptr_equal(attr.xrc_domain, (void *)0x1234);
}

/* A later release added rate_limit, which has no place in the caller's old struct. */
TEST(rate_limit_lies_behind_the_old_qp_attr)
{
	struct ibv_qp_attr now = { .qp_state = IBV_QPS_RTS, .alt_timeout = 9 };
	struct legacy_qp_attr old;

	memcpy(&old, &now, sizeof(old));
	assert_int_equal(old.qp_state, IBV_QPS_RTS);
	assert_int_equal(old.alt_timeout, 9);
	assert_true(offsetof(struct ibv_qp_attr, rate_limit) >= sizeof(old));
}

/* Old programs test the flag. */
TEST(a_flagged_event_has_the_qp_number_in_place_of_a_pointer)
{
	union {
		struct legacy_async_event old;
		struct ibv_async_event now;
	} event = { .now = { .event_type = IBV_EVENT_COMM_EST } };

	event.old.event_type |= LEGACY_XRC_QP_EVENT_FLAG;
	event.old.element.xrc_qp_num = 0x800440;
	assert_int_equal(event.old.event_type, 0x80000004);
	assert_int_equal(word_at(&event, 0), 0x800440);
	assert_int_equal(word_at(&event, sizeof(void *)), 0x80000004);
}

UNIT_MAIN(NULL, NULL)
