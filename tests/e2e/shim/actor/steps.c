/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opens domains, brings QPs to a state, connects a sender to receivers, and sends. */

#include <harness/emulated.h>
#include "row.h"

static struct actor *with_file(int device, enum file file)
{
	struct actor *actor = actor_open(device);

	expect_ok(open_domain(actor, D, file, O_CREAT));
	return actor;
}

struct actor *with_domain(void)
{
	return with_file(0, FILE_A);
}

struct actor *with_private(void)
{
	return with_file(0, PRIVATE);
}

struct result plain_qp(struct actor *actor, enum ibv_qp_type type, int srq, unsigned flags)
{
	struct request request =
		REQUEST(create_qp, .slot = 1, .dom = NIL, .flags = flags, QP_USUAL);

	request.qp_type = type;
	request.srq = srq;
	return actor_ask(actor, request);
}

uint32_t number_of(struct result result)
{
	expect_ret(result, 0);
	return result.number;
}

uint32_t new_rcv_qp(struct actor *actor)
{
	return number_of(create_rcv_qp(actor, D));
}

uint32_t new_rcv_qp_in_rtr(struct actor *actor)
{
	uint32_t qp_num = new_rcv_qp(actor);

	bring(actor, RCV_QP(qp_num), IBV_QPS_RTR, actor, PEER_QPN);
	return qp_num;
}

struct ibv_qp_attr attr_to(enum ibv_qp_state state, const struct actor *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = PEER_QPN,
		.rq_psn = 0x123456,
		.sq_psn = 0x123456,
		.max_dest_rd_atomic = 2,
		.max_rd_atomic = 2,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 1,
		.rnr_retry = 5,
		.ah_attr = { .dlid = peer->lid, .port_num = 1 },
	};

	if (!peer->lid) { /* Ethernet has no LIDs */
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = peer->gid;
		attr.ah_attr.grh.hop_limit = 1;
	}
	return attr;
}

void bring(struct actor *actor, struct request qp, enum ibv_qp_state state,
	   const struct actor *peer, uint32_t dest_qp_num)
{
	for (enum ibv_qp_state step = IBV_QPS_INIT; step <= state; step++) {
		qp.attr = attr_to(step, peer);
		qp.attr.dest_qp_num = dest_qp_num;
		qp.mask = mask_to(step);
		expect_ret(actor_ask(actor, qp), 0);
	}
}

struct wire wire_new(enum file file)
{
	struct wire wire = { .sender = with_private(), .receiver = with_file(1, file) };

	wire.send_qpn = number_of(create_qp(wire.sender, 0, D));
	wire.srq_num = number_of(create_srq(wire.receiver, 0, D));
	wire.rcv_qpn = new_rcv_qp(wire.receiver);
	bring(wire.receiver, RCV_QP(wire.rcv_qpn), IBV_QPS_RTR, wire.sender, wire.send_qpn);
	bring(wire.sender, QP(0), IBV_QPS_RTS, wire.receiver, wire.rcv_qpn);
	return wire;
}

struct actor *wire_join(uint32_t *srq_num)
{
	struct actor *actor = with_file(1, FILE_A);

	*srq_num = number_of(create_srq(actor, 0, D));
	return actor;
}

void wire_send(const struct wire *wire, uint32_t srq_num, uint32_t bytes, uint32_t imm)
{
	struct result r;

	expect_ret(post_send(wire->sender, 0, srq_num, bytes, imm), 0);
	r = send_completion(wire->sender);
	expect_ret(r, 0);
	must_eq(r.wc.status, IBV_WC_SUCCESS);
	must_eq(r.wc.opcode, IBV_WC_SEND);
	must_eq(r.wc.qp_num, wire->send_qpn);
}

void wire_arrives(const struct wire *wire, struct actor *receiver, uint32_t srq_num, uint32_t bytes,
		  uint32_t imm, unsigned flags)
{
	struct result r = recv_completion(receiver, flags);

	expect_ret(r, 0);
	must_eq(r.wc.status, IBV_WC_SUCCESS);
	must_eq(r.wc.opcode, IBV_WC_RECV);
	must_eq(r.wc.byte_len, bytes);
	must_eq(r.wc.imm_data, imm);
	must(r.wc.wc_flags & IBV_WC_WITH_IMM);
	must_eq(r.wc.qp_num, wire->rcv_qpn);
	must_eq(r.wc.src_qp, emulated_src_qp(srq_num, wire->send_qpn));
	must(r.data_matches);
}

void wire_deliver(const struct wire *wire, struct actor *receiver, uint32_t srq_num, uint32_t bytes,
		  uint32_t imm)
{
	expect_ret(post_recv(receiver, 0, 0), 0);
	wire_send(wire, srq_num, bytes, imm);
	wire_arrives(wire, receiver, srq_num, bytes, imm, 0);
}
