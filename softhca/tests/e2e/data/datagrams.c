/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Datagrams: what the receiver finds before the data and in the completion, and which datagrams it
 * does not get. Also: receive errors of datagrams and of unreliable connections.
 */
#include <softhca/tests/e2e/pair.h>

#include <string.h>
#include <sys/mman.h>

#define WRONG_QKEY 0x22222222u
#define GRH	   40

/* A datagram from a to b with a GRH. The address handle is the caller's to destroy. */
static struct ibv_send_wr to_b(const struct pair *pair, uint32_t length)
{
	struct ibv_ah_attr attr = {
		.dlid = pair->b->lid, .port_num = 1, .is_global = 1, .sl = 5,
		.grh = { .flow_label = 0x54321, .traffic_class = 0xa7, .hop_limit = 9 },
	};

	NEED(!ibv_query_gid(pair->b->ctx, 1, 0, &attr.grh.dgid));
	return pair_datagram(pair, &attr, length);
}

/*
 * A request whose Q_Key has its highest bit set is sent with the QP's own Q_Key, which the receiver
 * has here, too.
 */
PAIR_CASE(only_a_datagram_with_the_right_qkey_arrives, IBV_QPT_UD)
{
	static const uint32_t right[] = { RIG_QKEY, 0x80000000 };
	struct ibv_send_wr wr = to_b(&pair, 100);
	struct ibv_wc wc;

	pair_pattern(pair.a->buffer, 100, 8);
	wr.wr.ud.remote_qkey = WRONG_QKEY; /* dropped */
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, GRH + 100, 1) &&
	      !rig_post_recv(pair.b, pair.qb, 0, GRH + 100, 2));
	CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS) && rig_quiet(pair.b->cq, 5));
	for (int i = 0; i < 2; i++) {
		wr.wr.ud.remote_qkey = right[i];
		memset(pair.b->buffer, 0, GRH + 100);
		CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS) && rig_poll_success(pair.b->cq, &wc));
		CHECK(wc.byte_len == GRH + 100 && wc.src_qp == pair.qa->qp_num &&
		      wc.slid == pair.a->lid && wc.wc_flags & IBV_WC_GRH && wc.sl == 5);
		CHECK(!memcmp(pair.b->buffer + GRH, pair.a->buffer, 100));
	}
	return !ibv_destroy_ah(wr.wr.ud.ah);
}

PAIR_CASE(a_datagram_is_at_most_one_packet, IBV_QPT_UD)
{
	struct ibv_send_wr wr = pair_datagram(&pair, NULL, 4096);
	struct ibv_wc wc;

	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 8192, 1) &&
	      rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
	CHECK(rig_poll_success(pair.b->cq, &wc) && wc.byte_len == 4096 + GRH);
	wr.sg_list->length++;
	return rig_send(pair.qa, &wr, IBV_WC_LOC_LEN_ERR) && !ibv_destroy_ah(wr.wr.ud.ah);
}

/*
 * The payload length of a GRH counts what follows it: headers, data, the bytes that fill the last
 * word, and the ICRC.
 */
PAIR_CASE(a_grh_has_the_path_and_the_payload_length, IBV_QPT_UD)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t length, payload;
	} rows[] = {
		{ IBV_WR_SEND, 100, 124 }, { IBV_WR_SEND, 101, 128 },
		{ IBV_WR_SEND_WITH_IMM, 100, 128 }, { IBV_WR_SEND, 0, 24 },
	};
	const uint8_t *grh = pair.b->buffer;
	struct ibv_send_wr wr = to_b(&pair, 0);
	union ibv_gid ours, theirs;
	struct ibv_wc wc;

	CHECK(!ibv_query_gid(pair.a->ctx, 1, 0, &ours) &&
	      !ibv_query_gid(pair.b->ctx, 1, 0, &theirs));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		wr.opcode = rows[i].opcode;
		wr.sg_list->length = rows[i].length;
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 200, 1) &&
		      rig_send(pair.qa, &wr, IBV_WC_SUCCESS) && rig_poll(pair.b->cq, &wc));
		CHECK(!memcmp(grh, (uint8_t[]){ 0x6a, 0x75, 0x43, 0x21 }, 4));
		CHECK((uint32_t)(grh[4] << 8 | grh[5]) == rows[i].payload && grh[6] == 0x1b &&
		      grh[7] == 9);
		CHECK(!memcmp(grh + 8, ours.raw, 16) && !memcmp(grh + 24, theirs.raw, 16));
	}
	return !ibv_destroy_ah(wr.wr.ud.ah);
}

/* ---- buffers that an unreliable message cannot use: only the receiver gets an error ---- */

/* A UC QP ignores the address handle, and writes no GRH. */
static bool receiver_fails(const struct pair *pair, struct ibv_sge to, enum ibv_wc_status status)
{
	struct ibv_send_wr wr = to_b(pair, 100);

	CHECK(!rig_post_sge(pair->qb, NULL, to, 6) && rig_send(pair->qa, &wr, IBV_WC_SUCCESS));
	CHECK(rig_completes(pair->b->cq, 6, status));
	CHECK(rig_state(pair->qb) == IBV_QPS_ERR && rig_state(pair->qa) == IBV_QPS_RTS);
	return !ibv_destroy_ah(wr.wr.ud.ah);
}

static bool unusable(enum ibv_qp_type type, uint32_t length, uint32_t wrong_key,
		     enum ibv_wc_status status)
{
	struct pair pair = pair_up(type);
	struct ibv_sge to = { (uint64_t)(uintptr_t)pair.b->buffer, length,
			      pair.b->mr->lkey ^ wrong_key };

	return receiver_fails(&pair, to, status) && pair_tear_down(&pair);
}

CASE(an_unusable_buffer_fails_only_at_the_receiver)
{
	return unusable(IBV_QPT_UD, GRH + 99, 0, IBV_WC_LOC_LEN_ERR) &&
	       unusable(IBV_QPT_UC, 99, 0, IBV_WC_LOC_LEN_ERR) &&
	       unusable(IBV_QPT_UD, GRH + 100, 0x80, IBV_WC_LOC_PROT_ERR) &&
	       unusable(IBV_QPT_UC, 100, 0x80, IBV_WC_LOC_PROT_ERR);
}

/* The memory of the data, or of the GRH, is no longer mapped. */
static bool unmapped(size_t at)
{
	struct pair pair = pair_up(IBV_QPT_UD);
	uint8_t *two = rig_map(8192);
	struct ibv_mr *mr = MADE(ibv_reg_mr(pair.b->pd, two, 8192, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_sge to = { (uint64_t)(uintptr_t)two + 4096 - GRH, GRH + 100, mr->lkey };

	CHECK(!munmap(two + at, 4096) && receiver_fails(&pair, to, IBV_WC_LOC_PROT_ERR));
	return !ibv_dereg_mr(mr) && pair_tear_down(&pair);
}

CASE(an_unmapped_buffer_fails_only_at_the_receiver)
{
	return unmapped(4096) && unmapped(0);
}
