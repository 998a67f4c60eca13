/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands that no library would write get the kernel's errno. Multicast groups are limited. */

#define UNIT_SETUP setup
#define UNIT_TEARDOWN teardown

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <base/loop.h>
#include <objects/objects.h>
#include <qp/qp.h>
#include <uverbs/cmd.h>

#include <harness/unit.h>

static struct hca_machine machine;
static struct hca_context *ctx;
static uint8_t response[512];

/* Contexts watch the processes of their clients. */
FIXTURE(make_loop)
{
	return loop_init(false);
}

/* A context whose client is this process. */
FIXTURE(setup)
{
	static const uint32_t probe = SOFTHCA_MAGIC;
	const struct softhca_hello hello = { .device = 0, .probe = (uint64_t)(uintptr_t)&probe };
	int uar;

	assert_int_equal(machine_init(&machine, &settings_default, 1, 0), 0);
	assert_int_equal(context_create(&machine, &hello, dup(0), getpid(), -1, &ctx, &uar), 0);
	close(uar);
	return 0;
}

FIXTURE(teardown)
{
	context_destroy(ctx);
	machine_free(&machine);
	return 0;
}

static int execute(const void *bytes, size_t size)
{
	uint64_t give_at;
	int give;
	int result = cmd_execute(ctx, bytes, size, -1, &give, &give_at);

	if (give >= 0)
		close(give);
	return result;
}

struct alloc_pd {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_alloc_pd body;
};

static struct alloc_pd good_alloc(void)
{
	return (struct alloc_pd){
		.hdr = { IB_USER_VERBS_CMD_ALLOC_PD, sizeof(struct alloc_pd) / 4, 3 },
		.body = { .response = (uint64_t)(uintptr_t)response },
	};
}

static void get_context(void)
{
	struct alloc_pd cmd = good_alloc();

	cmd.hdr.command = IB_USER_VERBS_CMD_GET_CONTEXT;
	cmd.hdr.out_words = 6;
	assert_int_equal(execute(&cmd, sizeof(cmd)), 0);
}

/* A PD's handle. */
static uint32_t alloc_pd(void)
{
	struct alloc_pd cmd = good_alloc();
	uint32_t handle;

	assert_int_equal(execute(&cmd, sizeof(cmd)), 0);
	memcpy(&handle, response, sizeof(handle));
	return handle;
}

TEST(get_context_comes_first_and_once)
{
	struct alloc_pd cmd = good_alloc();

	assert_int_equal(execute(&cmd, sizeof(cmd)), -EINVAL);
	get_context();
	alloc_pd();
	cmd.hdr.command = IB_USER_VERBS_CMD_GET_CONTEXT;
	cmd.hdr.out_words = 6;
	assert_int_equal(execute(&cmd, sizeof(cmd)), -EINVAL);
}

TEST(unknown_commands_and_wrong_sizes_are_refused)
{
	static const struct {
		size_t size;
		struct ib_uverbs_cmd_hdr hdr;
		int err;
	} rows[] = {
		{ 0, { IB_USER_VERBS_CMD_ALLOC_PD, 4, 3 }, -EINVAL },
		{ 7, { IB_USER_VERBS_CMD_ALLOC_PD, 4, 3 }, -EINVAL },
		{ 12, { IB_USER_VERBS_CMD_ALLOC_PD, 4, 3 }, -EINVAL },
		{ 12, { IB_USER_VERBS_CMD_ALLOC_PD, 3, 3 }, -EINVAL },
		{ 16, { IB_USER_VERBS_CMD_ALLOC_PD, 3, 3 }, -EINVAL },
		{ 20, { IB_USER_VERBS_CMD_ALLOC_PD, 4, 3 }, -EINVAL },
		{ 16, { IB_USER_VERBS_CMD_ALLOC_PD, 4, 0 }, -ENOSPC },
		{ 16, { IB_USER_VERBS_CMD_POLL_CQ, 4, 3 }, -EOPNOTSUPP },
		{ 16, { 41, 4, 3 }, -EINVAL },
		{ 16, { 256, 4, 3 }, -EINVAL },
		{ 16, { 0x40000003, 4, 3 }, -EINVAL },
		{ 16, { 0x80000000u | 60, 4, 3 }, -EOPNOTSUPP },
	};
	struct alloc_pd cmd[2] = { good_alloc() };

	get_context();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cmd[0].hdr = rows[i].hdr;
		assert_int_equal(execute(cmd, rows[i].size), rows[i].err);
	}
}

TEST(a_wild_response_destroys_the_new_object)
{
	struct alloc_pd cmd = good_alloc();

	get_context();
	cmd.body.response = 16;
	assert_int_equal(execute(&cmd, sizeof(cmd)), -EFAULT);
	/* the client did not get the handle, so the PD is destroyed */
	assert_int_equal(machine.device[0].numbers[HCA_PD].used, 0);
	assert_true(list_empty(&ctx->objects[HCA_PD]));
}

struct ex_query {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex;
	struct ib_uverbs_ex_query_device body;
};

static struct ex_query good_ex(void)
{
	return (struct ex_query){
		.hdr = { .command = 0x80000001u, .in_words = 1, .out_words = sizeof(response) / 8 },
		.ex = { .response = (uint64_t)(uintptr_t)response },
	};
}

TEST(extended_headers_with_a_mistake_are_refused)
{
	struct ex_query cmd = good_ex();

	get_context();
	memset(response, 0xff, sizeof(response));
	assert_int_equal(execute(&cmd, sizeof(cmd)), 0);
	/* bytes behind the response are cleared */
	assert_int_equal(response[sizeof(response) - 1], 0);
	cmd.ex.cmd_hdr_reserved = 1;
	assert_int_equal(execute(&cmd, sizeof(cmd)), -EINVAL);
	cmd = good_ex();
	cmd.ex.response = 0;
	assert_int_equal(execute(&cmd, sizeof(cmd)), -EINVAL);
	cmd = good_ex();
	cmd.hdr.in_words = 0;
	cmd.ex.provider_in_words = 1;
	assert_int_equal(execute(&cmd, sizeof(cmd)), -EINVAL);
	cmd = good_ex();
	cmd.hdr.out_words = 1;
	assert_int_equal(execute(&cmd, sizeof(cmd)), -ENOSPC);
	cmd = good_ex();
	assert_int_equal(execute(&cmd, sizeof(cmd) - 8), -EINVAL);
	cmd.body.comp_mask = 1;
	assert_int_equal(execute(&cmd, sizeof(cmd)), -EINVAL);
}

/*
 * The kernel tells an empty entry of the GID table from an index beyond the table. On Ethernet
 * there is no address without a GID.
 */
TEST(an_address_handle_without_a_valid_gid_is_refused)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_ah body;
	} create = {
		{ IB_USER_VERBS_CMD_CREATE_AH, sizeof(create) / 4, 16 },
		{ .response = (uint64_t)(uintptr_t)response,
		  .attr = { .is_global = 1, .port_num = 1, .dlid = 1 } },
	};

	get_context();
	create.body.pd_handle = alloc_pd();
	assert_int_equal(execute(&create, sizeof(create)), 0);
	create.body.attr.grh.sgid_index = 1;
	assert_int_equal(execute(&create, sizeof(create)), -ENODATA);
	create.body.attr.grh.sgid_index = 255;
	assert_int_equal(execute(&create, sizeof(create)), -EINVAL);
	create.body.attr.is_global = 0;
	assert_int_equal(execute(&create, sizeof(create)), 0);
	machine.settings.ethernet = true;
	assert_int_equal(execute(&create, sizeof(create)), -EINVAL);
}

/* A group ends with its last member. */
TEST(groups_are_limited_to_max_groups)
{
	static const uint8_t gid[16] = { 0xff, 0x12 };
	struct hca_device *device = &machine.device[0];
	struct hca_qp qp = { .device = device, .type = IBV_QPT_UD };

	list_init(&qp.groups);
	device->group_count = device->model->max_groups - 1;
	assert_int_equal(mcast_attach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_attach(&qp, gid, 0xc002), -ENOMEM);
	assert_int_equal(mcast_attach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_detach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_attach(&qp, gid, 0xc002), 0);
	mcast_detach_all(&qp);
	assert_int_equal(device->group_count, device->model->max_groups - 1);
}

int main(void)
{
	static const uint32_t word = 1;
	uint32_t copy = 0;
	struct iovec here = { &copy, sizeof(copy) };
	struct iovec there = { (void *)(uintptr_t)&word, sizeof(word) };

	if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof(word))
		return cmocka_run_group_tests(unit_tests, make_loop, NULL);
	puts("process_vm_readv() does not work here");
	return 77;
}
