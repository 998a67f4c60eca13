/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages so long that the emulator moves them in pieces. Each byte arrives, other QPs are not
 * delayed, and the receiver may fail midway.
 */
#include <softhca/tests/e2e/pair.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LONG  ((size_t)3 << 20)
#define CHUNK ((size_t)16 << 20)
#define HUGE  ((size_t)1 << 30)

struct region {
	uint8_t *at;
	struct ibv_mr *mr;
};

static struct region registered(struct host *host, uint8_t *at, size_t length)
{
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ;
	struct region region = { at, MADE(ibv_reg_mr(host->pd, at, length, access)) };

	return region;
}

static struct region region(struct host *host)
{
	uint8_t *at = mmap(NULL, LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEED(at != MAP_FAILED);
	return registered(host, at, LONG);
}

/* A region of a gigabyte of addresses. Each 16 MB of them map the same memory. */
static struct region huge_region(struct host *host)
{
	int fd = memfd_create("huge", MFD_CLOEXEC);
	uint8_t *at = mmap(NULL, HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEED(fd >= 0 && !ftruncate(fd, (off_t)CHUNK) && at != MAP_FAILED);
	for (size_t offset = 0; offset < HUGE; offset += CHUNK)
		NEED(mmap(at + offset, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			  0) != MAP_FAILED);
	close(fd);
	return registered(host, at, HUGE);
}

static void fill(uint8_t *at, size_t length, uint32_t seed)
{
	for (size_t i = 0; i < length; i++) {
		seed = seed * 1664525u + 1013904223u;
		at[i] = (uint8_t)(seed >> 24);
	}
}

static struct pair connect_to_srq(struct host *a, struct host *b, struct ibv_srq *srq)
{
	struct pair pair = { a, b, .qa = rig_qp(a, IBV_QPT_RC, NULL),
			     .qb = rig_qp(b, IBV_QPT_RC, srq) };

	rig_connect(a, pair.qa, b, pair.qb, rig_link_to(0, 0));
	return pair;
}

static struct ibv_send_wr request(const struct region *from, struct ibv_sge *sge,
				  enum ibv_wr_opcode opcode, const struct region *to, size_t length)
{
	struct ibv_send_wr wr = {
		.wr_id = 1000, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .sg_list = sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = (uint64_t)(uintptr_t)to->at, .rkey = to->mr->rkey },
	};

	*sge = (struct ibv_sge){ (uint64_t)(uintptr_t)from->at, (uint32_t)length, from->mr->lkey };
	return wr;
}

static int post_recv(struct ibv_qp *qp, struct ibv_srq *srq, const struct region *to, size_t length,
		     uint64_t id)
{
	struct ibv_sge sge = { (uint64_t)(uintptr_t)to->at, (uint32_t)length, to->mr->lkey };

	return rig_post_sge(qp, srq, sge, id);
}

static bool each_operation(enum ibv_qp_type type)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ
	};
	struct pair pair = pair_up(type, NULL);
	struct region from = region(pair.a), to = region(pair.b);
	const size_t length = LONG - 4097;

	for (int i = 0; i < (type == IBV_QPT_RC ? 3 : 2); i++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = request(&from, &sge, opcodes[i], &to, length);
		struct ibv_wc wc;

		fill(from.at, LONG, (uint32_t)i);
		fill(to.at, LONG, 77);
		CHECK(!post_recv(pair.qb, NULL, &to, LONG, 5) &&
		      rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
		CHECK(!memcmp(from.at, to.at, length) &&
		      memcmp(from.at + length, to.at + length, LONG - length));
		if (opcodes[i] != IBV_WR_RDMA_READ)
			CHECK(rig_poll_success(pair.b->cq, &wc) && wc.byte_len == length &&
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

/*
 * If this program is delayed, the long message may have arrived before the checks are made. Then
 * they fail or prove nothing, so they are repeated, five times at most.
 */
static bool midway(bool (*once)(bool *late))
{
	bool late = true, good = false;

	for (int i = 0; i < 5 && late; i++)
		good = once(&late);
	return good;
}

/*
 * The long message takes its buffer with its first byte. A message on another QP that overtakes it
 * gets the next buffer.
 */
static bool two_senders_once(bool *late)
{
	struct host *a = rig_host(0), *b = rig_host(1);
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(b->pd, &init);
	struct pair big = connect_to_srq(a, b, srq),
		    small = connect_to_srq(a, b, srq);
	struct region from = huge_region(a), to = huge_region(b);
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&from, &sge, IBV_WR_SEND, &to, HUGE);
	double start;
	struct ibv_wc wc;

	fill(from.at, CHUNK, 5);
	start = rig_now();
	CHECK(srq && !post_recv(NULL, srq, &to, HUGE, 1) && !rig_post_srq(b, srq, 0, 100, 2) &&
	      !rig_post(big.qa, &wr));
	CHECK(rig_changes(to.at)); /* the long message has begun */
	wr = rig_wr(a, &sge, IBV_WR_SEND, 0, 100);
	CHECK(!rig_post(small.qa, &wr));
	*late = rig_now() - start >= PROMPT;
	CHECK(rig_poll_success(b->cq, &wc) && wc.wr_id == 2 && wc.qp_num == small.qb->qp_num);
	CHECK(rig_poll_within(b->cq, &wc, 30000) && !wc.status && wc.wr_id == 1 &&
	      wc.qp_num == big.qb->qp_num);
	CHECK(wc.byte_len == HUGE && !memcmp(from.at, to.at, CHUNK));
	return true;
}

CASE(two_senders_to_one_srq_do_not_mix)
{
	return midway(two_senders_once);
}

static bool others_go_on_once(bool *late)
{
	struct pair big = pair_up(IBV_QPT_RC, NULL);
	struct pair small = pair_up(IBV_QPT_RC, NULL);
	struct region from = huge_region(big.a), to = huge_region(big.b);
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&from, &sge, IBV_WR_RDMA_WRITE, &to, HUGE);
	double start = rig_now();
	struct ibv_wc wc;

	CHECK(!rig_post(big.qa, &wr));
	for (uint64_t i = 0; i < 10; i++) {
		wr = rig_wr(small.a, &sge, IBV_WR_SEND, 0, 100);
		CHECK(!rig_post_recv(small.b, small.qb, 0, 100, i) && !rig_post(small.qa, &wr));
		CHECK(rig_poll_success(small.b->cq, &wc) && wc.wr_id == i);
	}
	*late = rig_now() - start >= PROMPT;
	CHECK(!ibv_poll_cq(big.a->cq, 1, &wc)); /* and the gigabyte is still on its way */
	CHECK(rig_poll_within(big.a->cq, &wc, 30000) && !wc.status);
	return true;
}

CASE(long_message_does_not_delay_other_qps)
{
	return midway(others_go_on_once);
}

/*
 * The receiver fails in the middle of a message. Its buffer is flushed, and the sender gets no
 * answer.
 */
static bool receiver_fails_once(bool *late)
{
	struct host *a = rig_host(0), *b = rig_host(1);
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(b->pd, &init);
	struct pair pair = connect_to_srq(a, b, srq);
	struct region from = huge_region(a), to = huge_region(b);
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(&from, &sge, IBV_WR_SEND, &to, HUGE);
	double start;
	struct ibv_wc wc;

	CHECK(srq && !post_recv(NULL, srq, &to, HUGE, 1) && !post_recv(NULL, srq, &to, HUGE, 2));
	fill(from.at, CHUNK, 5);
	start = rig_now();
	CHECK(!rig_post(pair.qa, &wr));
	CHECK(rig_changes(to.at)); /* the long message has begun */
	CHECK(!rig_to_state(pair.qb, IBV_QPS_ERR));
	*late = rig_now() - start >= PROMPT;
	CHECK(rig_poll(b->cq, &wc) && wc.wr_id == 1 && wc.status == IBV_WC_WR_FLUSH_ERR);
	CHECK(rig_poll(a->cq, &wc) && wc.status == IBV_WC_RETRY_EXC_ERR);
	CHECK(rig_quiet(b->cq, 5)); /* the second buffer is still the SRQ's */
	return true;
}

CASE(receiver_fails_midway)
{
	return midway(receiver_fails_once);
}

CASE(a_message_beyond_the_ports_limit_is_refused)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct region from = huge_region(pair.a), to = huge_region(pair.b);
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = request(&from, sge, IBV_WR_RDMA_WRITE, &to, HUGE);

	sge[1] = sge[0];
	sge[1].length = 1;
	wr.num_sge = 2;
	return rig_send(pair.qa, &wr, IBV_WC_LOC_LEN_ERR);
}

RIG_MAIN
