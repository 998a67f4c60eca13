/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages so long that the emulator moves them in pieces. Each byte arrives, other QPs are not
 * delayed, and the receiver may fail midway.
 */
#include <softhca/tests/e2e/pair.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LONG  ((size_t)3 << 20)
#define CHUNK ((size_t)16 << 20)
#define HUGE  ((size_t)1 << 30)

/* All of a region, as the host's memory or as a peer's. */
static struct ibv_sge registered(struct host *host, uint8_t *at, size_t length)
{
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ;
	struct ibv_mr *mr = MADE(ibv_reg_mr(host->pd, at, length, access));

	return (struct ibv_sge){ (uint64_t)(uintptr_t)at, (uint32_t)length, mr->lkey };
}

/* A region of a gigabyte of addresses. Each 16 MB of them map the same memory. */
static struct ibv_sge huge_region(struct host *host)
{
	int fd = memfd_create("huge", MFD_CLOEXEC);
	uint8_t *at = rig_map(HUGE);

	NEED(fd >= 0 && !ftruncate(fd, (off_t)CHUNK));
	for (size_t offset = 0; offset < HUGE; offset += CHUNK)
		NEED(mmap(at + offset, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			  0) != MAP_FAILED);
	close(fd);
	return registered(host, at, HUGE);
}

static uint8_t *memory(const struct ibv_sge *sge)
{
	return (uint8_t *)(uintptr_t)sge->addr;
}

static void fill(uint8_t *at, size_t length, uint32_t seed)
{
	for (size_t i = 0; i < length; i++) {
		seed = seed * 1664525u + 1013904223u;
		at[i] = (uint8_t)(seed >> 24);
	}
}

static struct ibv_send_wr request(struct ibv_sge *from, enum ibv_wr_opcode opcode,
				  const struct ibv_sge *to)
{
	return (struct ibv_send_wr){
		.wr_id = 1000, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .sg_list = from,
		.num_sge = 1, .wr.rdma = { .remote_addr = to->addr, .rkey = to->lkey },
	};
}

static bool each_operation(enum ibv_qp_type type)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ
	};
	struct pair pair = pair_up(type);
	uint8_t *out = rig_map(LONG), *in = rig_map(LONG);
	struct ibv_sge from = registered(pair.a, out, LONG - 4097),
		       to = registered(pair.b, in, LONG);

	for (int i = 0; i < (type == IBV_QPT_RC ? 3 : 2); i++) {
		struct ibv_send_wr wr = request(&from, opcodes[i], &to);
		struct ibv_wc wc;

		fill(out, LONG, (uint32_t)i);
		fill(in, LONG, 77);
		CHECK(!rig_post_sge(pair.qb, NULL, to, 5) &&
		      rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
		CHECK(!memcmp(out, in, from.length) &&
		      memcmp(out + from.length, in + from.length, LONG - from.length));
		if (opcodes[i] != IBV_WR_RDMA_READ)
			CHECK(rig_poll_success(pair.b->cq, &wc) && wc.byte_len == from.length &&
			      wc.wr_id == 5);
		CHECK(rig_quiet(pair.b->cq, 1));
	}
	return true;
}

CASE(every_byte_arrives)
{
	return each_operation(IBV_QPT_RC) && each_operation(IBV_QPT_UC);
}

/* ---- while a long message is on its way ---- */

#define PROMPT 0.05 /* seconds, in which a gigabyte cannot have arrived */

/* Two connections to one SRQ, and a gigabyte that is on its way by the first one. */
struct midway {
	struct pair pair, other;
	struct ibv_srq *srq;
	struct ibv_sge from, to;
	double start;
};

/* Receive 1 takes the long message. Receive 2 is the next one. */
static struct midway begin(void)
{
	struct midway m = { .pair = { .a = rig_host(0), .b = rig_host(1) } };
	struct pair *const pairs[] = { &m.other, &m.pair };
	struct ibv_send_wr wr;

	m.srq = MADE(rig_srq(m.pair.b, 8));
	m.other = m.pair;
	for (int i = 0; i < 2; i++) {
		pairs[i]->qa = rig_qp(m.pair.a, IBV_QPT_RC, NULL);
		pairs[i]->qb = rig_qp(m.pair.b, IBV_QPT_RC, m.srq);
		rig_connect(m.pair.a, pairs[i]->qa, m.pair.b, pairs[i]->qb);
	}
	m.from = huge_region(m.pair.a);
	m.to = huge_region(m.pair.b);
	fill(memory(&m.from), CHUNK, 5);
	NEED(!rig_post_sge(NULL, m.srq, m.to, 1) && !rig_post_srq(m.pair.b, m.srq, 0, 100, 2));
	wr = request(&m.from, IBV_WR_SEND, &m.to);
	m.start = seconds();
	NEED(!rig_post(m.pair.qa, &wr) && rig_changes(memory(&m.to)));
	return m;
}

/*
 * If this program is delayed, the long message may have arrived before the checks are made. Then
 * they fail or prove nothing, so they are repeated, five times at most.
 */
static bool midway(bool (*once)(struct midway *m, bool *late))
{
	bool late = true, good = false;

	for (int i = 0; i < 5 && late; i++) {
		struct midway m = begin();

		good = once(&m, &late);
	}
	return good;
}

/*
 * The long message took its buffer with its first byte. A message on another QP is not delayed,
 * overtakes it, and gets the next buffer.
 */
static bool another_sender_once(struct midway *m, bool *late)
{
	struct ibv_send_wr wr = rig_wr(m->pair.a, IBV_WR_SEND, 0, 100);
	struct ibv_wc wc;

	CHECK(rig_send(m->other.qa, &wr, IBV_WC_SUCCESS));
	*late = seconds() - m->start >= PROMPT;
	CHECK(rig_poll_success(m->pair.b->cq, &wc) && wc.wr_id == 2 &&
	      wc.qp_num == m->other.qb->qp_num);
	CHECK(rig_poll_within(m->pair.b->cq, &wc, 30000) && !wc.status && wc.wr_id == 1 &&
	      wc.qp_num == m->pair.qb->qp_num);
	return wc.byte_len == HUGE && !memcmp(memory(&m->from), memory(&m->to), CHUNK);
}

CASE(another_sender_to_the_srq_overtakes)
{
	return midway(another_sender_once);
}

/* The receiver fails. Its buffer is flushed, and the sender gets no answer. */
static bool receiver_fails_once(struct midway *m, bool *late)
{
	CHECK(!rig_to_state(m->pair.qb, IBV_QPS_ERR));
	*late = seconds() - m->start >= PROMPT;
	CHECK(rig_completes(m->pair.b->cq, 1, IBV_WC_WR_FLUSH_ERR));
	CHECK(rig_completes(m->pair.a->cq, 1000, IBV_WC_RETRY_EXC_ERR));
	return rig_quiet(m->pair.b->cq, 5); /* the second buffer is still the SRQ's */
}

CASE(receiver_fails_midway)
{
	return midway(receiver_fails_once);
}

CASE(a_message_beyond_the_ports_limit_is_refused)
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_sge sge[2] = { huge_region(pair.a) };
	const struct ibv_sge to = huge_region(pair.b);
	struct ibv_send_wr wr = request(sge, IBV_WR_RDMA_WRITE, &to);

	sge[1] = sge[0];
	sge[1].length = 1;
	wr.num_sge = 2;
	return rig_send(pair.qa, &wr, IBV_WC_LOC_LEN_ERR);
}
