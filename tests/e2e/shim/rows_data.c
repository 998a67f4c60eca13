/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 3, 5.3 and 5.6: messages, sent and received by the inline functions of the old header.
 */

#include "row.h"
#include "wire.h"

static void message(unsigned flags)
{
	struct wire wire = wire_new();

	expect_ret(post_recv(wire.receiver, 0), 0);
	wire_send(&wire, wire.srq_num, 1000, 0x1234);
	wire_arrives(&wire, wire.receiver, wire.srq_num, 1000, 0x1234, flags);
}

static void message_polled(void)
{
	message(0);
}

static void message_waited_for(void)
{
	message(SLEEP);
}

static void sizes(void)
{
	static const uint32_t bytes[] = { 0, 1, 63, 64, 1024, 1025, 4096, 16384 };
	struct wire wire = wire_new();

	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		expect_ret(post_recv(wire.receiver, 0), 0);
		wire_send(&wire, wire.srq_num, bytes[i], i);
		wire_arrives(&wire, wire.receiver, wire.srq_num, bytes[i], i, 0);
	}
}

static void many(unsigned flags)
{
	struct wire wire = wire_new();

	for (int i = 0; i < 8; i++)
		expect_ret(post_recv(wire.receiver, 0), 0);
	for (uint32_t i = 0; i < 40; i++) {
		wire_send(&wire, wire.srq_num, 100 + i, i);
		wire_arrives(&wire, wire.receiver, wire.srq_num, 100 + i, i, flags);
		expect_ret(post_recv(wire.receiver, 0), 0);
	}
}

static void many_polled(void)
{
	many(0);
}

static void many_waited_for(void)
{
	many(SLEEP);
}

/*
 * The purpose of XRC: one receive QP delivers to the SRQs of several processes. Only the creator is
 * registered, since an SRQ need only be in the domain.
 */
static void one_qp_many_srqs(void)
{
	struct wire wire = wire_new();
	uint32_t b_srq, c_srq;
	struct actor *b = wire_join(&b_srq), *c = wire_join(&c_srq);

	expect_ret(post_recv(wire.receiver, 0), 0);
	expect_ret(post_recv(b, 0), 0);
	expect_ret(post_recv(c, 0), 0);
	wire_send(&wire, c_srq, 300, 3);
	wire_send(&wire, wire.srq_num, 100, 1);
	wire_send(&wire, b_srq, 200, 2);
	wire_arrives(&wire, wire.receiver, wire.srq_num, 100, 1, 0);
	wire_arrives(&wire, b, b_srq, 200, 2, SLEEP);
	wire_arrives(&wire, c, c_srq, 300, 3, 0);
	expect_ret(recv_completion(b, 0, DRAIN), ETIMEDOUT);
}

static void receive_qp_in_rts(void)
{
	struct wire wire = wire_new();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTS, wire.sender, wire.send_qpn);

	expect_ok(modify_rcv_qp(wire.receiver, D, wire.rcv_qpn, &attr, MASK_RTS));
	expect_ret(post_recv(wire.receiver, 0), 0);
	wire_send(&wire, wire.srq_num, 10, 1);
	wire_arrives(&wire, wire.receiver, wire.srq_num, 10, 1, 0);
}

static void creator_leaves(void)
{
	struct wire wire = wire_new();
	uint32_t b_srq;
	struct actor *b = wire_join(&b_srq);

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ret(post_recv(wire.receiver, 0), 0);
	wire_send(&wire, wire.srq_num, 100, 1);
	wire_arrives(&wire, wire.receiver, wire.srq_num, 100, 1, 0);
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
	expect_ok(destroy_srq(wire.receiver, 0));
	expect_ok(close_domain(wire.receiver, D));
	expect_ret(post_recv(b, 0), 0);
	wire_send(&wire, b_srq, 200, 2);
	wire_arrives(&wire, b, b_srq, 200, 2, 0);
}

static void creator_ends(enum end how)
{
	struct wire wire = wire_new();
	uint32_t b_srq;
	struct actor *b = wire_join(&b_srq);

	expect_ok(reg(b, D, wire.rcv_qpn));
	actor_end(wire.receiver, how);
	expect_ret(post_recv(b, 0), 0);
	wire_send(&wire, b_srq, 200, 2);
	wire_arrives(&wire, b, b_srq, 200, 2, 0);
}

static void creator_exits(void)
{
	creator_ends(BY_EXIT);
}

static void creator_is_killed(void)
{
	creator_ends(BY_KILL);
}

static void last_one_leaves(void)
{
	struct wire wire = wire_new();
	uint32_t b_srq;
	struct actor *b = wire_join(&b_srq);
	struct result r;

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
	expect_ret(post_recv(b, 0), 0);
	wire_send(&wire, b_srq, 200, 2);
	wire_arrives(&wire, b, b_srq, 200, 2, 0);
	expect_ok(unreg(b, D, wire.rcv_qpn));
	expect_ret(post_recv(b, 0), 0);
	expect_ret(post_send(wire.sender, 0, b_srq, 200, 3), 0);
	r = send_completion(wire.sender, 0);
	expect_ret(r, 0);
	expect_eq(r.wc.status, IBV_WC_RETRY_EXC_ERR);
	expect_ret(recv_completion(b, 0, DRAIN), ETIMEDOUT);
	expect_ok(destroy_qp(wire.sender, 0));	/* as Open MPI does before it starts over */
}

static void both_private(void)
{
	struct actor *receiver = actor_open(1);
	struct wire wire;

	expect_ok(open_private(receiver, D, O_CREAT));
	wire = wire_to(receiver);
	expect_ret(post_recv(wire.receiver, 0), 0);
	wire_send(&wire, wire.srq_num, 77, 7);
	wire_arrives(&wire, wire.receiver, wire.srq_num, 77, 7, 0);
}

static const struct row rows[] = {
	{ "5.3", "a message arrives, under the receive QP's number, polled for", message_polled },
	{ "5.3", "a message arrives, under the receive QP's number, waited for",
	  message_waited_for },
	{ "3", "messages of many sizes arrive whole", sizes },
	{ "3", "forty messages arrive in order, polled for", many_polled },
	{ "3", "forty messages arrive in order, waited for", many_waited_for },
	{ "5.3", "one receive QP reaches every SRQ of the domain", one_qp_many_srqs },
	{ "5.4", "a receive QP in RTS receives too", receive_qp_in_rts },
	{ "5.6", "the creator unregisters and closes, traffic goes on", creator_leaves },
	{ "5.7", "the creator exits, traffic goes on", creator_exits },
	{ "5.7", "the creator is killed, traffic goes on", creator_is_killed },
	{ "5.6", "after the last unreg the sender's message fails", last_one_leaves },
	{ "5.3", "private domains carry messages too", both_private },
};

GROUP(data);
