/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Turns the verbs that rows call into requests to actors. */

#include <string.h>

#include "row.h"

#define WAIT_MS 20000		/* for a completion or event that must come */
#define NOTHING_MS 200		/* for one that must not come */

const uint32_t unknown_qpns[UNKNOWN_QPNS] = {
	0, 1, 0x7fffff, 0xfffffe, 0xffffff, 0x1000000, 0xffffffff,
};

struct result open_device(struct actor *actor, int device)
{
	return actor_ask(actor, (struct request){ OPERATION(open_device), .device = device });
}

struct result destroy_rest(struct actor *actor)
{
	return actor_ask(actor, (struct request){ OPERATION(destroy_rest) });
}

static struct request open_request(int dom, const char *path, int oflag)
{
	struct request request = { OPERATION(open_domain), .dom = dom, .oflag = oflag };

	if (path)
		strncpy(request.path, path, sizeof(request.path) - 1);
	return request;
}

struct result open_domain_as(struct actor *actor, int dom, const char *path, int oflag,
			     unsigned flags)
{
	struct request request = open_request(dom, path, oflag);

	request.flags = flags;
	return actor_ask(actor, request);
}

struct result open_domain(struct actor *actor, int dom, const char *path, int oflag)
{
	return open_domain_as(actor, dom, path, oflag, 0);
}

struct actor *with_domain(void)
{
	struct actor *actor = actor_open(0);

	expect_ok(open_domain(actor, D, row_file(0), O_CREAT));
	return actor;
}

struct actor *with_private(void)
{
	struct actor *actor = actor_open(0);

	expect_ok(open_private(actor, D, O_CREAT));
	return actor;
}

struct result open_private(struct actor *actor, int dom, int oflag)
{
	return open_domain_as(actor, dom, NULL, oflag, FD_PRIVATE);
}

struct result open_elsewhere(struct actor *actor, int dom, const char *path, enum place where)
{
	struct request request = open_request(dom, path, O_CREAT);

	request.where = where;
	return actor_ask(actor, request);
}

struct result close_domain(struct actor *actor, int dom)
{
	return actor_ask(actor, (struct request){ OPERATION(close_domain), .dom = dom });
}

struct request srq_request(int slot, int dom)
{
	return (struct request){
		OPERATION(create_srq), .slot = slot, .dom = dom,
		.srq_attr = { .max_wr = 16, .max_sge = 1 },
	};
}

struct result create_srq(struct actor *actor, int slot, int dom)
{
	return actor_ask(actor, srq_request(slot, dom));
}

struct result create_plain_srq(struct actor *actor, int slot)
{
	return actor_ask(actor, (struct request){
		OPERATION(create_plain_srq), .slot = slot,
		.srq_attr = { .max_wr = 15, .max_sge = 1 },
	});
}

struct result modify_srq(struct actor *actor, int slot, uint32_t limit)
{
	return actor_ask(actor, (struct request){
		OPERATION(modify_srq), .slot = slot, .srq_attr = { .srq_limit = limit },
	});
}

struct result query_srq(struct actor *actor, int slot)
{
	return actor_ask(actor, (struct request){ OPERATION(query_srq), .slot = slot });
}

struct result destroy_srq(struct actor *actor, int slot)
{
	return actor_ask(actor, (struct request){ OPERATION(destroy_srq), .slot = slot });
}

struct request qp_request(int slot, int dom)
{
	return (struct request){
		OPERATION(create_qp), .slot = slot, .dom = dom, .srq = NIL, .qp_type = IBV_QPT_XRC,
		/* Not 0: MVAPICH leaves receive capacities there, and libmlx4 took them as 0. */
		.cap = { .max_send_wr = 16, .max_recv_wr = 7, .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = 64 },
	};
}

struct result create_qp(struct actor *actor, int slot, int dom)
{
	return actor_ask(actor, qp_request(slot, dom));
}

struct result create_plain_qp(struct actor *actor, int slot, enum ibv_qp_type type)
{
	struct request request = qp_request(slot, NIL);

	request.qp_type = type;
	request.flags = GARBAGE;
	return actor_ask(actor, request);
}

struct result modify_qp(struct actor *actor, int slot, const struct ibv_qp_attr *attr, int mask)
{
	return actor_ask(actor, (struct request){
		OPERATION(modify_qp), .slot = slot, .attr = *attr, .mask = mask,
	});
}

struct result query_qp(struct actor *actor, int slot, int mask)
{
	return actor_ask(actor, (struct request){
		OPERATION(query_qp), .slot = slot, .mask = mask, .dom = D,
	});
}

struct result destroy_qp(struct actor *actor, int slot)
{
	return actor_ask(actor, (struct request){ OPERATION(destroy_qp), .slot = slot });
}

struct result create_rcv_qp_as(struct actor *actor, int dom, unsigned flags)
{
	return actor_ask(actor, (struct request){
		OPERATION(create_rcv_qp), .dom = dom, .flags = flags,
	});
}

struct result create_rcv_qp(struct actor *actor, int dom)
{
	return create_rcv_qp_as(actor, dom, GARBAGE);
}

uint32_t new_rcv_qp(struct actor *actor)
{
	struct result created = create_rcv_qp(actor, D);

	expect_ok(created);
	return created.number;
}

struct result modify_rcv_qp(struct actor *actor, int dom, uint32_t qp_num,
			    const struct ibv_qp_attr *attr, int mask)
{
	return actor_ask(actor, (struct request){
		OPERATION(modify_rcv_qp), .dom = dom, .number = qp_num, .attr = *attr, .mask = mask,
	});
}

struct result query_rcv_qp(struct actor *actor, int dom, uint32_t qp_num, int mask)
{
	return actor_ask(actor, (struct request){
		OPERATION(query_rcv_qp), .dom = dom, .number = qp_num, .mask = mask,
	});
}

struct result query_rcv_qp_as(struct actor *actor, int dom, uint32_t qp_num, unsigned flags)
{
	return actor_ask(actor, (struct request){
		OPERATION(query_rcv_qp), .dom = dom, .number = qp_num, .mask = IBV_QP_STATE,
		.flags = flags,
	});
}

struct result reg(struct actor *actor, int dom, uint32_t qp_num)
{
	return actor_ask(actor, (struct request){ OPERATION(reg), .dom = dom, .number = qp_num });
}

struct result unreg(struct actor *actor, int dom, uint32_t qp_num)
{
	return actor_ask(actor, (struct request){ OPERATION(unreg), .dom = dom, .number = qp_num });
}

struct ibv_qp_attr attr_to(enum ibv_qp_state state, const struct actor *peer, uint32_t dest_qp_num)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest_qp_num,
		.rq_psn = 0x123456,
		.sq_psn = 0x123456,
		.max_dest_rd_atomic = 2,
		.max_rd_atomic = 2,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 5,
		.rnr_retry = 5,
	};

	attr.ah_attr = actor_path(peer);
	return attr;
}

int mask_to(enum ibv_qp_state state)
{
	switch (state) {
	case IBV_QPS_INIT:
		return MASK_INIT;
	case IBV_QPS_RTR:
		return MASK_RTR;
	case IBV_QPS_RTS:
		return MASK_RTS;
	default:
		return IBV_QP_STATE;
	}
}

void bring_rcv_qp(struct actor *actor, uint32_t qp_num, enum ibv_qp_state state,
		  const struct actor *peer, uint32_t dest_qp_num)
{
	for (enum ibv_qp_state step = IBV_QPS_INIT; step <= state; step++) {
		struct ibv_qp_attr attr = attr_to(step, peer, dest_qp_num);

		expect_ok(modify_rcv_qp(actor, D, qp_num, &attr, mask_to(step)));
	}
}

void bring_qp(struct actor *actor, int slot, enum ibv_qp_state state, const struct actor *peer,
	      uint32_t dest_qp_num)
{
	for (enum ibv_qp_state step = IBV_QPS_INIT; step <= state; step++) {
		struct ibv_qp_attr attr = attr_to(step, peer, dest_qp_num);

		expect_ret(modify_qp(actor, slot, &attr, mask_to(step)), 0);
	}
}

uint32_t new_rcv_qp_in_rtr(struct actor *actor)
{
	uint32_t qp_num = new_rcv_qp(actor);

	bring_rcv_qp(actor, qp_num, IBV_QPS_RTR, actor, PEER_QPN);
	return qp_num;
}

struct result post_recv_as(struct actor *actor, int srq, unsigned flags)
{
	return actor_ask(actor, (struct request){
		OPERATION(post_recv), .srq = srq, .flags = flags,
	});
}

struct result post_recv(struct actor *actor, int srq)
{
	return post_recv_as(actor, srq, 0);
}

struct result post_recv_qp(struct actor *actor, int qp)
{
	return actor_ask(actor, (struct request){ OPERATION(post_recv), .srq = NIL, .slot = qp });
}

struct result post_send(struct actor *actor, int qp, uint32_t srq_num, uint32_t bytes, uint32_t imm)
{
	return actor_ask(actor, (struct request){
		OPERATION(post_send), .slot = qp, .number = srq_num, .bytes = bytes, .imm = imm,
	});
}

static struct result completion(struct actor *actor, int srq, unsigned flags)
{
	return actor_ask(actor, (struct request){
		OPERATION(completion), .srq = srq, .flags = flags,
		.timeout_ms = flags & DRAIN ? NOTHING_MS : WAIT_MS,
	});
}

struct result send_completion(struct actor *actor)
{
	return completion(actor, NIL, 0);
}

struct result recv_completion(struct actor *actor, int srq, unsigned flags)
{
	return completion(actor, srq, flags);
}

struct result get_event(struct actor *actor, int slot, unsigned flags)
{
	return actor_ask(actor, (struct request){
		OPERATION(get_event), .slot = slot, .flags = flags,
		.timeout_ms = flags & DRAIN ? NOTHING_MS : WAIT_MS,
	});
}

struct result ack_event(struct actor *actor, unsigned flags)
{
	return actor_ask(actor, (struct request){ OPERATION(ack_event), .flags = flags });
}
