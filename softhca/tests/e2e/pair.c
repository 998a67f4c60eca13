/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Two hosts with a QP each. */
#include "pair.h"

struct pair pair_apart(enum ibv_qp_type type)
{
	struct pair pair = { .a = rig_host(0), .b = rig_host(1) };

	pair.qa = rig_qp(pair.a, type, NULL);
	pair.qb = rig_qp(pair.b, type, NULL);
	return pair;
}

struct pair pair_up(enum ibv_qp_type type, const struct rig_link *link)
{
	struct pair pair = pair_apart(type);
	const struct rig_link usual = rig_link_to(0, 0);

	rig_connect(pair.a, pair.qa, pair.b, pair.qb, link ? *link : usual);
	return pair;
}

bool pair_tear_down(struct pair *pair)
{
	CHECK(!ibv_destroy_qp(pair->qa) && !ibv_destroy_qp(pair->qb));
	rig_free_host(pair->a);
	rig_free_host(pair->b);
	return true;
}

void pair_pattern(uint8_t *at, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		at[i] = (uint8_t)(seed + i * 7);
}

struct ibv_send_wr pair_remote_wr(struct pair *pair, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
				  size_t local, size_t remote, uint32_t length)
{
	struct ibv_send_wr wr = rig_wr(pair->a, sge, opcode, local, length);

	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)pair->b->buffer + remote;
	wr.wr.rdma.rkey = pair->b->mr->rkey;
	return wr;
}
