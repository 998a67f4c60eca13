/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Failed operations: the status and vendor error at each side, and the state of each QP. Some cases
 * show the nearest operation that succeeds. Also: the MTU.
 */
#include <harness/emulated.h>
#include <e2e/pair.h>

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#define ALLOWED (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* The next completion has this status, and the vendor error that real adapters report with it. */
static void must_fail_with(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	/* Taken from logs of programs. */
	const uint32_t vendor_errs[] = {
		[IBV_WC_LOC_LEN_ERR] = 0x69,
		[IBV_WC_LOC_PROT_ERR] = 0x51,
		[IBV_WC_WR_FLUSH_ERR] = emulated_is_mlx5() ? 0xf9 : 0xf4,
		[IBV_WC_REM_INV_REQ_ERR] = 0x8a,
		[IBV_WC_REM_ACCESS_ERR] = 0x88,
		[IBV_WC_REM_OP_ERR] = 0x89,
		[IBV_WC_RETRY_EXC_ERR] = 0x81,
		[IBV_WC_RNR_RETRY_EXC_ERR] = 0x87,
	};
	struct ibv_wc wc = rig_must_complete(cq, wr_id, status);

	must_eq(wc.vendor_err, vendor_errs[status]);
}

/* The sender's completion has @status, and the sender is in ERR. */
static void must_fail(const struct pair *pair, struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	must_eq(rig_post(pair->qa, wr), 0);
	must_fail_with(pair->a->cq, wr->wr_id, status);
	must_eq(rig_state(pair->qa), IBV_QPS_ERR);
}

ROW("an unconnected peer does not answer")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);

	must_eq(rig_to_state(pair.qb, IBV_QPS_RESET), 0);
	must_fail(&pair, &wr, IBV_WC_RETRY_EXC_ERR);
}

ROW("a request waits for a late peer")
{
	struct pair p = pair_apart(IBV_QPT_RC);
	struct rig_link to_b = rig_link_to(p.qb->qp_num, p.b->lid),
			to_a = rig_link_to(p.qa->qp_num, p.a->lid);
	struct ibv_send_wr wr = rig_wr(p.a, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	to_b.timeout = 22; /* 17 seconds */
	must_eq(rig_bring_up(p.qa, &to_b), 0);
	must_eq(rig_post(p.qa, &wr), 0);
	must_eq(rig_init(p.qb, &to_a), 0);
	must_eq(rig_post_recv(p.b, p.qb, 0, 10, 1), 0);
	rig_must_be_quiet(p.a->cq, 20);
	must_eq(rig_rtr(p.qb, &to_a), 0);
	/* The request succeeds once the peer is in RTR, not only after the timeout of 17 s. */
	must_eq(rig_poll(p.a->cq, &wc, 10000), 1);
	must_eq(wc.status, IBV_WC_SUCCESS);
	rig_must_succeed(p.b->cq);
}

/* qb is connected to qa and sends its ACK there. The third QP gets none. */
ROW("an ACK goes to the connected QP")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_qp *third = rig_qp(pair.a, IBV_QPT_RC, NULL);
	struct rig_link link = rig_link_to(pair.qb->qp_num, pair.b->lid);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);

	must_eq(rig_bring_up(third, &link), 0);
	must_eq(rig_post_recv(pair.b, pair.qb, 0, 100, 1), 0);
	rig_must_send(third, &wr, IBV_WC_RETRY_EXC_ERR);
	must_eq(ibv_destroy_qp(third), 0);
}

/* The receiver takes it for a repetition. */
ROW("a request behind the expected PSN is acknowledged and dropped")
{
	struct rig_link ours = rig_link_to(0, 0), theirs = ours;
	struct pair pair;

	theirs.psn++;
	pair = pair_by(IBV_QPT_RC, ours, theirs);
	pair_must_receive(&pair, 1);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_be_quiet(pair.b->cq, 5);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_succeed(pair.b->cq);
}

ROW("a request ahead of the expected PSN is not answered")
{
	struct rig_link ours = rig_link_to(0, 0), theirs = ours;
	struct pair pair;

	ours.psn++;
	pair = pair_by(IBV_QPT_RC, ours, theirs);
	pair_must_receive(&pair, 1);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_RETRY_EXC_ERR);
	rig_must_be_quiet(pair.b->cq, 5);
	must_eq(rig_state(pair.qb), IBV_QPS_RTS);
}

ROW("posted in error is flushed")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);

	must_eq(rig_to_state(pair.qa, IBV_QPS_ERR), 0);
	wr.send_flags = 0; /* a flushed request completes even if it is unsignaled */
	must_fail(&pair, &wr, IBV_WC_WR_FLUSH_ERR);
	must_eq(rig_post_recv(pair.a, pair.qa, 0, 10, 3), 0);
	must_fail_with(pair.a->cq, 3, IBV_WC_WR_FLUSH_ERR);
}

/* ---- requests with one mistake each ---- */

/* The mistake in a key. */
enum fault { NONE, WRONG, FOREIGN, READ_ONLY };

static const struct mistake {
	const char *what;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	size_t local, remote;	     /* offsets in the buffers */
	enum fault lkey, rkey, rlkey; /* rlkey: of the receives, which have 100 bytes */
	int access, fewer_reads; /* what the responder's QP forbids, and lacks of 4 resources */
	enum ibv_wc_status status, receive;
	enum ibv_event_type event; /* at the responder; 0 = none */
} mistakes[] = {
	{ "local key", IBV_WR_SEND, 10, .lkey = WRONG, .status = IBV_WC_LOC_PROT_ERR },
	{ "local key of another PD", IBV_WR_SEND, 10, .lkey = FOREIGN,
	  .status = IBV_WC_LOC_PROT_ERR },
	{ "local range", IBV_WR_SEND, 11, .local = RIG_BUFFER - 10, .status = IBV_WC_LOC_PROT_ERR },
	{ "longer than the receive", IBV_WR_SEND, 101, .status = IBV_WC_REM_INV_REQ_ERR,
	  .receive = IBV_WC_LOC_LEN_ERR },
	{ "key of the receive", IBV_WR_SEND, 10, .rlkey = WRONG, .status = IBV_WC_REM_OP_ERR,
	  .receive = IBV_WC_LOC_PROT_ERR },
	{ "remote key", IBV_WR_RDMA_WRITE, 10, .rkey = WRONG, .status = IBV_WC_REM_ACCESS_ERR,
	  .event = IBV_EVENT_QP_ACCESS_ERR },
	{ "remote key of another PD", IBV_WR_RDMA_WRITE, 10, .rkey = FOREIGN,
	  .status = IBV_WC_REM_ACCESS_ERR, .event = IBV_EVENT_QP_ACCESS_ERR },
	{ "access of the region", IBV_WR_RDMA_WRITE, 10, .rkey = READ_ONLY,
	  .status = IBV_WC_REM_ACCESS_ERR, .event = IBV_EVENT_QP_ACCESS_ERR },
	{ "remote range", IBV_WR_RDMA_READ, 10, .remote = RIG_BUFFER - 9,
	  .status = IBV_WC_REM_ACCESS_ERR, .event = IBV_EVENT_QP_ACCESS_ERR },
	{ "access of the QP", IBV_WR_RDMA_WRITE, 10, .access = IBV_ACCESS_REMOTE_WRITE,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
	{ "no resources for reads", IBV_WR_RDMA_READ, 10, .fewer_reads = 4,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
	{ "misaligned atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, .remote = 4,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
};

/* A key for the host's buffer. Its region stays until the end. */
static uint32_t key_of(struct host *host, enum fault fault)
{
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | (fault == READ_ONLY ? 0 : ALLOWED);
	struct ibv_pd *pd = fault == FOREIGN ? MADE(ibv_alloc_pd(host->ctx)) : host->pd;
	struct ibv_mr *mr = host->mr;

	if (fault == FOREIGN || fault == READ_ONLY)
		mr = MADE(ibv_reg_mr(pd, host->buffer, RIG_BUFFER, access));
	return mr->lkey + (fault == WRONG);
}

static void must_refuse(const struct mistake *mistake)
{
	struct rig_link link = rig_link_to(0, 0);
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair pair;

	link.access = ALLOWED & ~mistake->access;
	link.max_dest_rd_atomic = (uint8_t)(4 - mistake->fewer_reads);
	pair = pair_by(IBV_QPT_RC, link, link);
	sge = (struct ibv_sge){ (uint64_t)(uintptr_t)pair.b->buffer, 100,
				key_of(pair.b, mistake->rlkey) };
	must_eq(rig_post_sge(pair.qb, NULL, sge, 4), 0);
	must_eq(rig_post_sge(pair.qb, NULL, sge, 5), 0);
	wr = pair_wr(&pair, mistake->opcode, mistake->local, mistake->remote, mistake->length);
	wr.sg_list->lkey = key_of(pair.a, mistake->lkey);
	if (mistake->rkey)
		wr.wr.rdma.rkey = key_of(pair.b, mistake->rkey);
	must_fail(&pair, &wr, mistake->status);
	if (!mistake->event && !mistake->receive) {
		rig_must_be_quiet(pair.b->cq, 5);
		must_eq(rig_state(pair.qb), IBV_QPS_RTS);
		return;
	}
	must_eq(rig_state(pair.qb), IBV_QPS_ERR);
	must_fail_with(pair.b->cq, 4, mistake->receive ? mistake->receive : IBV_WC_WR_FLUSH_ERR);
	must_fail_with(pair.b->cq, 5, IBV_WC_WR_FLUSH_ERR);
	if (mistake->event)
		rig_must_hear(pair.b, mistake->event, pair.qb);
}

ROW("a request with one mistake is refused")
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		printf("%s\n", mistakes[i].what); /* the line before that of a failure */
		must_refuse(&mistakes[i]);
	}
}

/* ---- reads and atomics that are outstanding ---- */

/* Posts three reads and an atomic as one list. */
static void post_reads(const struct pair *pair, unsigned int flags)
{
	struct ibv_send_wr wr[4];

	for (int i = 0; i < 4; i++) {
		wr[i] = pair_wr(pair, i == 2 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_RDMA_READ, 0,
				0, 8);
		wr[i].send_flags |= flags;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	must_eq(rig_post(pair->qa, wr), 0);
}

static void must_succeed(const struct pair *pair, int count)
{
	while (count--)
		rig_must_succeed(pair->a->cq);
}

/* A pair whose responder has one resource for reads. */
static struct pair pair_of_one_read(void)
{
	struct rig_link link = rig_link_to(0, 0);

	link.max_dest_rd_atomic = 1;
	return pair_by(IBV_QPT_RC, link, link);
}

ROW("more reads than resources are refused")
{
	struct pair pair = pair_of_one_read();

	/* Each read waits for the one before it. */
	post_reads(&pair, IBV_SEND_FENCE);
	must_succeed(&pair, 4);
	post_reads(&pair, 0);
	must_succeed(&pair, 1);
	must_fail_with(pair.a->cq, 77, IBV_WC_REM_INV_REQ_ERR);
	must_fail_with(pair.a->cq, 77, IBV_WC_WR_FLUSH_ERR);
	must_eq(rig_state(pair.qb), IBV_QPS_ERR);
}

/*
 * The peer has one resource, which is free again as soon as a read has completed. Long writes keep
 * the adapter busy while the second read is posted.
 */
ROW("a completed read frees its resource")
{
	enum { WRITES = 14 };
	struct pair pair = pair_of_one_read();
	struct ibv_send_wr read = pair_wr(&pair, IBV_WR_RDMA_READ, 0, 0, 8);
	struct ibv_send_wr write = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, RIG_BUFFER);

	for (int round = 0; round < 20; round++) {
		must_eq(rig_post(pair.qa, &read), 0);
		for (int i = 0; i < WRITES; i++)
			must_eq(rig_post(pair.qa, &write), 0);
		must_succeed(&pair, 1);
		must_eq(rig_post(pair.qa, &read), 0);
		must_succeed(&pair, WRITES + 1);
	}
}

/* The initiator has at most max_rd_atomic (4) reads and atomics outstanding, and 8 are posted. */
ROW("the initiator limits its outstanding reads")
{
	struct pair pair = pair_up(IBV_QPT_RC);

	post_reads(&pair, 0);
	post_reads(&pair, 0);
	must_succeed(&pair, 8);
}

/*
 * An adapter would send the pages that it pinned. The emulated HCA reads the program's memory,
 * which is gone (softhca.1).
 */
ROW("a send from unmapped memory fails")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_sge gone = rig_region(pair.a, rig_map(4096), 4096);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);

	must(!munmap((void *)(uintptr_t)gone.addr, 4096));
	gone.length = 10;
	*wr.sg_list = gone;
	must_eq(rig_post_recv(pair.b, pair.qb, 0, 100, 1), 0);
	must_fail(&pair, &wr, IBV_WC_LOC_PROT_ERR);
}

/* The receive error moves the QP to ERR. The send gets its own status, not WR_FLUSH_ERR. */
ROW("a QP that sends to itself gets both errors")
{
	struct host *host = rig_host(0);
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	struct rig_link link = rig_link_to(qp->qp_num, host->lid);
	struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, 0, 10);

	must_eq(rig_bring_up(qp, &link), 0);
	must_eq(rig_post_recv(host, qp, 1000, 5, 1), 0);
	must_eq(rig_post(qp, &wr), 0);
	must_fail_with(host->cq, 1, IBV_WC_LOC_LEN_ERR);
	must_fail_with(host->cq, 77, IBV_WC_REM_INV_REQ_ERR);
	must_eq(ibv_destroy_qp(qp), 0);
}

/* ---- errors of the send queue ---- */

/* An unreliable QP goes to SQE, not to ERR. From there a modify returns it to RTS. */
static void must_recover_from_sqe(enum ibv_qp_type type)
{
	struct pair pair = pair_up(type);
	/* A UC QP ignores the address handle. */
	struct ibv_send_wr wr = pair_datagram(&pair, NULL, 10);

	must_eq(rig_post_recv(pair.b, pair.qb, 0, 100, 1), 0);
	wr.sg_list->lkey++;
	rig_must_send(pair.qa, &wr, IBV_WC_LOC_PROT_ERR);
	must_eq(rig_state(pair.qa), IBV_QPS_SQE);
	must_eq(rig_state(pair.qb), IBV_QPS_RTS);
	wr.sg_list->lkey--;
	rig_must_send(pair.qa, &wr, IBV_WC_WR_FLUSH_ERR);
	must_eq(rig_to_state(pair.qa, IBV_QPS_RTS), 0);
	must_eq(rig_state(pair.qa), IBV_QPS_RTS);
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
	must_eq(ibv_destroy_ah(wr.wr.ud.ah), 0);
	pair_tear_down(&pair);
}

ROW("unreliable QPs go to SQE")
{
	must_recover_from_sqe(IBV_QPT_UC);
	must_recover_from_sqe(IBV_QPT_UD);
}

static int leave_sqe(struct ibv_qp *qp, struct ibv_qp_attr attr, int mask)
{
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE);
}

static struct pair pair_in_sqe(enum ibv_qp_type type)
{
	struct pair pair = pair_up(type);
	struct ibv_send_wr wr = pair_datagram(&pair, NULL, 10);

	wr.sg_list->lkey++;
	rig_must_send(pair.qa, &wr, IBV_WC_LOC_PROT_ERR);
	must_eq(rig_state(pair.qa), IBV_QPS_SQE);
	return pair;
}

ROW("a UC QP in SQE takes new rights on its way to RTS")
{
	const struct ibv_qp_attr no_rights = { .qp_access_flags = 0 };
	struct pair pair = pair_in_sqe(IBV_QPT_UC), back = { .a = pair.b, .b = pair.a };
	struct ibv_send_wr wr = pair_wr(&back, IBV_WR_RDMA_WRITE, 0, 100, 1);

	pair.b->buffer[0] = 1;
	must_eq(leave_sqe(pair.qa, no_rights, IBV_QP_QKEY), EINVAL);
	must_eq(rig_state(pair.qa), IBV_QPS_SQE);
	rig_must_send(pair.qb, &wr, IBV_WC_SUCCESS);
	must(rig_changes(pair.a->buffer + 100));
	must_eq(leave_sqe(pair.qa, no_rights, IBV_QP_ACCESS_FLAGS), 0);
	must_eq(rig_attr(pair.qa).qp_access_flags, 0);
	wr.wr.rdma.remote_addr++;
	rig_must_send(pair.qb, &wr, IBV_WC_SUCCESS);
	must_eq(pair.a->buffer[101], 0);
}

ROW("a UD QP in SQE takes a new Q_Key on its way to RTS")
{
	const struct ibv_qp_attr attr = { .qkey = 77 };
	struct pair pair = pair_in_sqe(IBV_QPT_UD);

	must_eq(leave_sqe(pair.qa, attr, IBV_QP_ACCESS_FLAGS), EINVAL);
	must_eq(rig_state(pair.qa), IBV_QPS_SQE);
	must_eq(leave_sqe(pair.qa, attr, IBV_QP_QKEY), 0);
	must_eq(rig_attr(pair.qa).qkey, 77);
	must_eq(rig_state(pair.qa), IBV_QPS_RTS);
}

/* ---- packets ---- */

/*
 * A packet longer than the receiver's MTU, or too short in the middle, is an invalid request. A
 * message of one packet within both MTUs arrives.
 */
ROW("packets that do not fit the receiver's MTU are refused")
{
	static const enum ibv_mtu mtus[] = { IBV_MTU_2048, IBV_MTU_1024, IBV_MTU_2048 };

	for (int i = 0; i < 2; i++) {
		struct rig_link link_a = rig_link_to(0, 0), link_b = link_a;
		struct pair pair;

		link_a.mtu = mtus[i];
		link_b.mtu = mtus[i + 1];
		pair = pair_by(IBV_QPT_RC, link_a, link_b);
		for (uint64_t id = 1; id <= 2; id++)
			must_eq(rig_post_recv(pair.b, pair.qb, 0, 4096, id), 0);
		pair_must_send(&pair, 1024, IBV_WC_SUCCESS);
		rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
		pair_must_send(&pair, 1025, IBV_WC_REM_INV_REQ_ERR);
		must_eq(rig_state(pair.qb), IBV_QPS_ERR);
		pair_tear_down(&pair);
	}
}
