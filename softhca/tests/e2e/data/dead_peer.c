/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A peer is killed during the traffic. Its senders get no answer, not even a refusal, and in the
 * end IBV_WC_RETRY_EXC_ERR.
 */
#include <softhca/tests/e2e/pair.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH 16384u
#define ROUNDS 4
/* Bytes that the kernel must free when the peer is killed, so that its exit takes long. */
#define BALLAST ((size_t)64 << 20)

static const struct request {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	bool xrc, receives; /* the peer posts receives */
} requests[] = {
	{ "send", IBV_WR_SEND, LENGTH, false, true },
	{ "send without a byte", IBV_WR_SEND, 0, false, true },
	{ "send to no buffer", IBV_WR_SEND, LENGTH, false, false },
	{ "write", IBV_WR_RDMA_WRITE, LENGTH, false, false },
	{ "write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, LENGTH, false, true },
	{ "read", IBV_WR_RDMA_READ, LENGTH, false, false },
	{ "fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, false, false },
	{ "XRC send", IBV_WR_SEND, LENGTH, true, true },
	{ "XRC write", IBV_WR_RDMA_WRITE, LENGTH, true, false },
};

struct address {
	uint64_t memory;
	uint32_t qpn, srqn, rkey;
	uint16_t lid;
};

/* Memory of both processes. */
struct meeting {
	struct address ends[2];
	uint8_t here[2][2];
};

/* The address of the other end, which has come as far. @me: 0 for the sender, 1 for the peer. */
static struct address exchange(struct meeting *meeting, int me, int step,
			       const struct address *mine)
{
	meeting->ends[me] = *mine;
	__atomic_store_n(&meeting->here[me][step], 1, __ATOMIC_RELEASE);
	NEED(rig_changes(&meeting->here[1 - me][step]));
	return meeting->ends[1 - me];
}

/* Returns when both ends are connected. */
static struct address connect_by(struct meeting *meeting, int me, struct ibv_qp *qp,
				 const struct address *mine, uint8_t rnr_retry)
{
	const struct address theirs = exchange(meeting, me, 0, mine);
	struct rig_link link = rig_link_to(theirs.qpn, theirs.lid);

	link.timeout = 8;
	link.retry_cnt = 2;
	link.rnr_retry = rnr_retry;
	NEED(!rig_bring_up(qp, &link));
	return exchange(meeting, me, 1, mine);
}

/* The peer posts receives until it is killed. */
static void __attribute__((noreturn)) serve(const struct request *request,
					     struct meeting *meeting)
{
	struct host *host = rig_host(1);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	struct ibv_srq *srq = MADE(request->xrc ? xrc_srq(host, xrcd, RIG_DEPTH, 1)
						: rig_srq(host, RIG_DEPTH));
	struct ibv_qp *qp = MADE(request->xrc ? xrc_target(host, xrcd)
					      : rig_qp(host, IBV_QPT_RC, srq));
	const struct address mine = { (uint64_t)(uintptr_t)host->buffer, qp->qp_num,
				      request->xrc ? xrc_srq_number(srq) : 0, host->mr->rkey,
				      host->lid };
	struct ibv_wc wc;

	memset(rig_map(BALLAST), 1, BALLAST);
	for (int i = 0; request->receives && i < RIG_DEPTH / 2; i++)
		NEED(!rig_post_srq(host, srq, 0, LENGTH, 1));
	connect_by(meeting, 1, qp, &mine, 7);
	for (;;) {
		if (ibv_poll_cq(host->cq, 1, &wc) == 1)
			NEED(!rig_post_srq(host, srq, 0, LENGTH, 1));
		else
			usleep(20);
	}
}

static struct ibv_send_wr request_to(const struct request *request, struct host *host,
				     const struct address *peer)
{
	struct ibv_send_wr wr = rig_wr(host, request->opcode, 0, request->length);

	if (!request->length)
		wr.num_sge = 0;
	wr.qp_type.xrc.remote_srqn = peer->srqn;
	/* A send ignores both. The address of an atomic is in the same place. */
	wr.wr.rdma.remote_addr = peer->memory;
	if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr.wr.atomic.rkey = peer->rkey;
	else
		wr.wr.rdma.rkey = peer->rkey;
	return wr;
}

/*
 * Kills the peer after @before requests, and sends until one fails. If none is sent before, waits
 * until the peer is dead, of which the daemon may not know yet.
 */
static enum ibv_wc_status send_on(struct ibv_qp *qp, struct ibv_send_wr *wr, pid_t victim,
				  int before)
{
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };
	siginfo_t info;

	for (int sent = 0; wc.status == IBV_WC_SUCCESS; sent++) {
		if (sent == before)
			kill(victim, SIGKILL);
		if (!before)
			NEED(!waitid(P_PID, (id_t)victim, &info, WEXITED | WNOWAIT));
		NEED(!rig_post(qp, wr) && rig_poll(qp->send_cq, &wc));
	}
	return wc.status;
}

static bool no_answer(const struct request *request, int round)
{
	struct host *host = rig_host(0);
	struct ibv_qp *qp = rig_qp(host, request->xrc ? IBV_QPT_XRC_SEND : IBV_QPT_RC, NULL);
	const struct address mine = { .qpn = qp->qp_num, .lid = host->lid };
	bool blocked = request->opcode == IBV_WR_SEND && !request->receives;
	enum ibv_wc_status status;
	struct address theirs;
	struct ibv_send_wr wr;
	struct meeting *meeting = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();

	NEED(meeting != MAP_FAILED && pid >= 0);
	if (!pid)
		serve(request, meeting);
	theirs = connect_by(meeting, 0, qp, &mine, blocked ? 0 : 7);
	wr = request_to(request, host, &theirs);
	status = send_on(qp, &wr, pid, blocked || round % 2 ? 0 : 1 + round * 10);
	NEED(waitpid(pid, NULL, 0) == pid && !munmap(meeting, 4096) && !ibv_destroy_qp(qp));
	rig_free_host(host);
	if (status != IBV_WC_RETRY_EXC_ERR)
		printf("%s, round %d: %s\n", request->name, round, ibv_wc_status_str(status));
	return status == IBV_WC_RETRY_EXC_ERR;
}

CASE(a_dead_peer_gives_no_answer)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		for (int round = 0; round < ROUNDS; round++)
			good &= no_answer(&requests[i], round);
	}
	return good;
}
