/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* How data moves between two emulated hosts. */
#include <e2e/pair.h>

#include <string.h>
#include <unistd.h>

/*
 * On mlx5 a request takes one to three units of the ring. The test first mixes the sizes, then
 * posts only requests of three. So a request wraps at each possible place.
 */
ROW("requests of all sizes arrive")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_wc wc;

	for (uint32_t i = 0; i < 300; i++) {
		uint32_t length = i < 100 ? 1 + i * 37 % 128 : 109 + i % 20;
		struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, length);

		wr.send_flags |= IBV_SEND_INLINE;
		wr.sg_list->lkey = 0; /* inline data needs no key */
		pair_pattern(pair.a->buffer, length, i);
		memset(pair.b->buffer, 0, 200);
		must_eq(rig_post_recv(pair.b, pair.qb, 0, 200, i), 0);
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		wc = rig_must_complete(pair.b->cq, i, IBV_WC_SUCCESS);
		must_eq(wc.byte_len, length);
		must(!memcmp(pair.a->buffer, pair.b->buffer, length));
		must(!pair.b->buffer[length]);
	}
}

/* Without and with inline data. */
ROW("pieces are gathered and scattered")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_sge from[] = { *rig_wr(pair.a, IBV_WR_SEND, 0, 70).sg_list,
				  *rig_wr(pair.a, IBV_WR_SEND, 500, 40).sg_list,
				  *rig_wr(pair.a, IBV_WR_SEND, 70, 18).sg_list };
	struct ibv_sge to[] = { *rig_wr(pair.b, IBV_WR_SEND, 0, 10).sg_list,
				*rig_wr(pair.b, IBV_WR_SEND, 1000, 90).sg_list,
				*rig_wr(pair.b, IBV_WR_SEND, 2000, 400).sg_list };
	struct ibv_send_wr wr = { .sg_list = from, .num_sge = 3, .opcode = IBV_WR_SEND };
	struct ibv_recv_wr recv = { .wr_id = 5, .sg_list = to, .num_sge = 3 }, *bad;
	const uint8_t *out = pair.a->buffer, *in = pair.b->buffer;
	struct ibv_wc wc;

	for (unsigned int i = 0; i < 2; i++) {
		wr.send_flags = IBV_SEND_SIGNALED | (i ? IBV_SEND_INLINE : 0);
		pair_pattern(pair.a->buffer, 1000, i);
		must_eq(ibv_post_recv(pair.qb, &recv, &bad), 0);
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		wc = rig_must_succeed(pair.b->cq);
		must_eq(wc.byte_len, 128);
		must(!memcmp(in, out, 10));
		must(!memcmp(in + 1000, out + 10, 60));
		must(!memcmp(in + 1060, out + 500, 30));
		must(!memcmp(in + 2000, out + 530, 10));
		must(!memcmp(in + 2010, out + 70, 18));
	}
}

/* No byte is touched, so no key is looked at (InfiniBand Architecture Specification). */
ROW("a message without bytes needs no key")
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM
	};
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_XRC_SEND };

	for (int i = 0; i < 6; i++) {
		struct pair pair = pair_up(types[i / 3]);
		struct ibv_send_wr wr = pair_wr(&pair, opcodes[i % 3], 0, 0, 0);

		wr.wr.rdma.rkey++;
		wr.wr.rdma.remote_addr = 0;
		wr.sg_list->lkey++;
		must_eq(pair_post_recv(&pair, 0, 0, 1), 0);
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		if (wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
			must_eq(rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS).byte_len, 0);
		rig_must_be_quiet(pair.b->cq, 0);
	}
}

/* The write is unsignaled: its slot is given back by the next completion. */
ROW("a fenced read returns what was written before")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr read = pair_wr(&pair, IBV_WR_RDMA_READ, 30000, 200, 20000);
	struct ibv_send_wr write = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 200, 20000);
	struct ibv_wc wc;

	pair_pattern(pair.a->buffer, 20000, 77);
	write.next = &read;
	write.send_flags = 0;
	read.send_flags |= IBV_SEND_FENCE;
	must_eq(rig_post(pair.qa, &write), 0);
	wc = rig_must_succeed(pair.a->cq);
	must_eq(wc.opcode, IBV_WC_RDMA_READ);
	must_eq(wc.byte_len, 20000);
	must(!memcmp(pair.a->buffer, pair.b->buffer + 200, 20000));
	must(!memcmp(pair.a->buffer, pair.a->buffer + 30000, 20000));
	rig_must_be_quiet(pair.a->cq, 5);
	rig_must_be_quiet(pair.b->cq, 5);
}

/* Without a buffer the message is lost without an error. */
ROW("UC loses a message without a receive")
{
	struct pair pair = pair_up(IBV_QPT_UC);

	pair_must_send(&pair, 100, IBV_WC_SUCCESS);
	must_eq(rig_post_recv(pair.b, pair.qb, 500, 100, 1), 0);
	rig_must_be_quiet(pair.b->cq, 5);
	pair_pattern(pair.a->buffer, 100, 8);
	pair_must_send(&pair, 100, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
	must(!memcmp(pair.a->buffer, pair.b->buffer + 500, 100));
}

/* The message arrives although the program ends the connection right after it. */
ROW("a message posted before its QP ends arrives")
{
	for (int round = 0; round < 20; round++) {
		struct pair pair = pair_up(IBV_QPT_RC);
		struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 100);
		struct ibv_wc wc;

		must_eq(rig_post_recv(pair.b, pair.qb, 0, 100, 1), 0);
		must_eq(rig_post(pair.qa, &wr), 0);
		must_eq(round & 1 ? rig_to_state(pair.qa, IBV_QPS_ERR) : ibv_destroy_qp(pair.qa),
			0);
		must_eq(ibv_poll_cq(pair.b->cq, 1, &wc), 1);
		must_eq(wc.status, IBV_WC_SUCCESS);
		must_eq(ibv_close_device(pair.a->ctx), 0);
		must_eq(ibv_close_device(pair.b->ctx), 0);
	}
}

/* Writes that were posted before the peer closed its device change nothing in its memory. */
ROW("nothing arrives after the close")
{
	for (int round = 0; round < 60; round++) {
		struct pair pair = pair_up(IBV_QPT_RC);
		struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, RIG_BUFFER);

		memset(pair.a->buffer, 1, RIG_BUFFER);
		for (int i = 0; i < RIG_DEPTH; i++)
			must_eq(rig_post(pair.qa, &wr), 0);
		must_eq(ibv_close_device(pair.b->ctx), 0);
		memset(pair.b->buffer, 0, RIG_BUFFER);
		usleep(1000);
		must(!memchr(pair.b->buffer, 1, RIG_BUFFER));
		must_eq(ibv_destroy_qp(pair.qa), 0);
		rig_free_host(pair.a);
	}
}
