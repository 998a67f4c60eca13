/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 3, 5.3 and 5.6: messages, sent and received by the inline functions of the old header.
 */

#define GROUP "data"

#include "row.h"

ROW_WIRE("3", "messages of many sizes arrive whole")
{
	static const uint32_t bytes[] = { 0, 1, 63, 64, 1024, 1025, 4096, 16384 };

	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		wire_deliver(&wire, receiver, wire.srq_num, bytes[i], i);
}

/* Eight completions are in the CQ before the first of them is polled. */
static void many(unsigned flags)
{
	struct wire wire = wire_new(FILE_A);
	struct actor *receiver = wire.receiver;

	for (uint32_t first = 0, end = 8; first < 40; first = end, end += 8) {
		for (uint32_t i = first; i < end; i++)
			expect_ret(post_recv(receiver, 0, i == first ? flags : 0), 0);
		for (uint32_t i = first; i < end; i++)
			wire_send(&wire, wire.srq_num, 100 + i, i);
		for (uint32_t i = first; i < end; i++)
			wire_arrives(&wire, receiver, wire.srq_num, 100 + i, i,
				     i == first ? flags : 0);
	}
}

ROW_CALL("5.3", "forty messages arrive with the receive QP's number, polled for", many(0))
ROW_CALL("5.3", "forty messages arrive with the receive QP's number, after CQ events",
	 many(CQ_EVENT))

/*
 * The purpose of XRC: one receive QP delivers to the SRQs of several processes. Only the creator is
 * registered, since an SRQ need only be in the domain.
 */
ROW_WIRE("5.3", "one receive QP reaches every SRQ of the domain")
{
	uint32_t b_srq, c_srq;
	struct actor *b = wire_join(&b_srq), *c = wire_join(&c_srq);

	expect_ret(post_recv(receiver, 0, 0), 0);
	expect_ret(post_recv(b, 0, CQ_EVENT), 0);
	expect_ret(post_recv(c, 0, 0), 0);
	wire_send(&wire, c_srq, 300, 3);
	wire_send(&wire, wire.srq_num, 100, 1);
	wire_send(&wire, b_srq, 200, 2);
	wire_arrives(&wire, receiver, wire.srq_num, 100, 1, 0);
	wire_arrives(&wire, b, b_srq, 200, 2, CQ_EVENT);
	wire_arrives(&wire, c, c_srq, 300, 3, 0);
	expect_ret(recv_completion(b, NOTHING), ETIMEDOUT);
}

ROW_WIRE("5.4", "a receive QP in RTS receives too")
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTS, wire.sender);

	expect_ok(modify_rcv_qp(receiver, D, wire.rcv_qpn, attr, MASK_RTS));
	wire_deliver(&wire, receiver, wire.srq_num, 10, 1);
}

ROW_WIRE("5.6", "messages arrive after the creator unregisters and closes its domain")
{
	uint32_t b_srq;
	struct actor *b = wire_join(&b_srq);

	expect_ok(reg(b, D, wire.rcv_qpn));
	wire_deliver(&wire, receiver, wire.srq_num, 100, 1);
	expect_ok(unreg(receiver, D, wire.rcv_qpn));
	expect_ok(destroy_srq(receiver, 0));
	expect_ok(close_domain(receiver, D));
	wire_deliver(&wire, b, b_srq, 200, 2);
}

ROW_WIRE("5.7", "messages arrive after the end of the creator", EACH_END)
{
	uint32_t b_srq;
	struct actor *b = wire_join(&b_srq);

	expect_ok(reg(b, D, wire.rcv_qpn));
	actor_end(receiver, row_end);
	wire_deliver(&wire, b, b_srq, 200, 2);
}

ROW_WIRE("5.6", "after the last unreg the sender's message fails")
{
	uint32_t b_srq;
	struct actor *b = wire_join(&b_srq);
	struct result r;

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(unreg(receiver, D, wire.rcv_qpn));
	wire_deliver(&wire, b, b_srq, 200, 2);
	expect_ok(unreg(b, D, wire.rcv_qpn));
	expect_ret(post_recv(b, 0, 0), 0);
	expect_ret(post_send(wire.sender, 0, b_srq, 200, 3), 0);
	r = send_completion(wire.sender);
	expect_ret(r, 0);
	must_eq(r.wc.status, IBV_WC_RETRY_EXC_ERR);
	expect_ret(recv_completion(b, NOTHING), ETIMEDOUT);
	expect_ok(destroy_qp(wire.sender, 0));	/* as Open MPI does before it starts over */
}

ROW("5.3", "private domains carry messages too")
{
	struct wire wire = wire_new(PRIVATE);

	wire_deliver(&wire, wire.receiver, wire.srq_num, 77, 7);
}
