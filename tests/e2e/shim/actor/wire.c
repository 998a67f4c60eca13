/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Connects a sender to receivers, and sends. */

#include "../../emulated.h"
#include "row.h"
#include "wire.h"

static uint32_t number_of(struct result result)
{
	expect_ok(result);
	return result.number;
}

struct wire wire_to(struct actor *receiver)
{
	struct wire wire = { .sender = with_private(), .receiver = receiver };

	wire.send_qpn = number_of(create_qp(wire.sender, 0, D));
	wire.srq_num = number_of(create_srq(receiver, 0, D));
	wire.rcv_qpn = new_rcv_qp(receiver);
	bring_rcv_qp(receiver, wire.rcv_qpn, IBV_QPS_RTR, wire.sender, wire.send_qpn);
	bring_qp(wire.sender, 0, IBV_QPS_RTS, receiver, wire.rcv_qpn);
	return wire;
}

struct wire wire_new(void)
{
	struct actor *receiver = actor_open(1);

	expect_ok(open_domain(receiver, D, row_file(0), O_CREAT));
	return wire_to(receiver);
}

struct actor *wire_join(uint32_t *srq_num)
{
	struct actor *actor = actor_open(1);

	expect_ok(open_domain(actor, D, row_file(0), 0));
	*srq_num = number_of(create_srq(actor, 0, D));
	return actor;
}

void wire_send(const struct wire *wire, uint32_t srq_num, uint32_t bytes, uint32_t imm)
{
	struct result r;

	expect_ret(post_send(wire->sender, 0, srq_num, bytes, imm), 0);
	r = send_completion(wire->sender);
	expect_ret(r, 0);
	expect_eq(r.wc.status, IBV_WC_SUCCESS);
	expect_eq(r.wc.opcode, IBV_WC_SEND);
	expect_eq(r.wc.qp_num, wire->send_qpn);
}

void wire_arrives(const struct wire *wire, struct actor *receiver, uint32_t srq_num, uint32_t bytes,
		  uint32_t imm, unsigned flags)
{
	struct result r = recv_completion(receiver, 0, flags);

	expect_ret(r, 0);
	expect_eq(r.wc.status, IBV_WC_SUCCESS);
	expect_eq(r.wc.opcode, IBV_WC_RECV);
	expect_eq(r.wc.byte_len, bytes);
	expect_eq(r.wc.imm_data, imm);
	expect_that(r.wc.wc_flags & IBV_WC_WITH_IMM);
	expect_eq(r.wc.qp_num, wire->rcv_qpn);
	expect_eq(r.wc.src_qp, emulated_src_qp(srq_num, wire->send_qpn));
	expect_facts(r, DATA_MATCHES);
}

void wire_deliver(const struct wire *wire, struct actor *receiver, uint32_t srq_num, uint32_t bytes,
		  uint32_t imm, unsigned flags)
{
	expect_ret(post_recv_as(receiver, 0, flags), 0);
	wire_send(wire, srq_num, bytes, imm);
	wire_arrives(wire, receiver, srq_num, bytes, imm, flags);
}
