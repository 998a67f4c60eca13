/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A peer is killed during the traffic. Its senders get no answer, and in the end
 * IBV_WC_RETRY_EXC_ERR.
 */
#include <softhca/tests/e2e/xrc.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH	 16384u
#define DEPTH	 8
/* bytes that the kernel must free when the peer is killed, so that its exit takes long */
#define BALLAST	 ((size_t)64 << 20)

struct request {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	bool xrc, receives; /* the peer posts receives */
};

static const struct request requests[] = {
	{ "send", IBV_WR_SEND, LENGTH, false, true },
	{ "send-without-a-byte", IBV_WR_SEND, 0, false, true },
	{ "send-to-no-buffer", IBV_WR_SEND, LENGTH, false, false },
	{ "write", IBV_WR_RDMA_WRITE, LENGTH, false, false },
	{ "write-with-immediate", IBV_WR_RDMA_WRITE_WITH_IMM, LENGTH, false, true },
	{ "read", IBV_WR_RDMA_READ, LENGTH, false, false },
	{ "compare-and-swap", IBV_WR_ATOMIC_CMP_AND_SWP, 8, false, false },
	{ "fetch-and-add", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, false, false },
	{ "xrc-send", IBV_WR_SEND, LENGTH, true, true },
	{ "xrc-write", IBV_WR_RDMA_WRITE, LENGTH, true, false },
};

static const struct request *find_request(const char *name)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (!strcmp(requests[i].name, name))
			return &requests[i];
	}
	return NULL;
}

/* The addresses that both ends exchange. */
struct address {
	uint64_t memory;
	uint32_t qpn, srqn, rkey;
	uint16_t lid;
};

static void write_address(int fd, const struct address *mine)
{
	NEED(write(fd, mine, sizeof(*mine)) == sizeof(*mine));
}

static void read_address(int fd, struct address *theirs)
{
	NEED(read(fd, theirs, sizeof(*theirs)) == sizeof(*theirs));
}

static void connect_to(struct ibv_qp *qp, const struct address *peer, uint8_t rnr_retry)
{
	struct rig_link link = rig_link_to(peer->qpn, peer->lid);

	link.timeout = 8;
	link.retry_cnt = 2;
	link.rnr_retry = rnr_retry;
	NEED(!rig_bring_up(qp, &link));
}

/* ---- the peer: posts receives until it is killed ---- */

static void post(const struct request *request, struct host *host, struct ibv_qp *qp,
		 struct ibv_srq *srq)
{
	if (request->receives)
		NEED(!(srq ? rig_post_srq(host, srq, 0, LENGTH, 1)
			   : rig_post_recv(host, qp, 0, LENGTH, 1)));
}

static void __attribute__((noreturn)) serve(const struct request *request, int fd)
{
	struct host *host = rig_host(1);
	struct ibv_xrcd *xrcd = request->xrc ? MADE(xrc_domain(host, -1, O_CREAT)) : NULL;
	struct ibv_srq *srq = xrcd ? MADE(xrc_srq(host, xrcd, RIG_DEPTH, 1)) : NULL;
	struct ibv_qp *qp = xrcd ? MADE(xrc_target(host, xrcd)) : rig_qp(host, IBV_QPT_RC, NULL);
	struct address mine = { (uint64_t)(uintptr_t)host->buffer, qp->qp_num, 0, host->mr->rkey,
				host->lid };
	void *ballast =
		mmap(NULL, BALLAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct address theirs;
	struct ibv_wc wc;

	NEED(ballast != MAP_FAILED);
	memset(ballast, 1, BALLAST);
	if (srq)
		mine.srqn = xrc_srq_number(srq);
	write_address(fd, &mine);
	read_address(fd, &theirs);
	/* libmlx5 takes no receives in RESET; the sender retries meanwhile. */
	connect_to(qp, &theirs, 7);
	for (int i = 0; i < DEPTH; i++)
		post(request, host, qp, srq);
	write_address(fd, &mine);
	for (;;) {
		if (ibv_poll_cq(host->cq, 1, &wc) == 1)
			post(request, host, qp, srq);
		else
			usleep(20);
	}
}

/* ---- the sender ---- */

static pid_t start_peer(const struct request *request, int *fd)
{
	int ends[2];
	pid_t pid;

	NEED(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	pid = fork();
	NEED(pid >= 0);
	if (!pid)
		serve(request, ends[1]);
	close(ends[1]);
	*fd = ends[0];
	return pid;
}

static struct ibv_send_wr request_to(const struct request *request, struct host *host,
				     struct ibv_sge *sge, const struct address *peer)
{
	struct ibv_send_wr wr = rig_wr(host, sge, request->opcode, 0, request->length);

	if (!request->length)
		wr.num_sge = 0;
	wr.qp_type.xrc.remote_srqn = peer->srqn;
	/* A send ignores both. The address of an atomic is in the same place. */
	wr.wr.rdma.remote_addr = peer->memory;
	if (request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr.wr.atomic.rkey = peer->rkey;
	else
		wr.wr.rdma.rkey = peer->rkey;
	return wr;
}

static enum ibv_wc_status outcome_of(struct host *host, struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_wc wc;

	NEED(!rig_post(qp, wr) && rig_poll(host->cq, &wc));
	return wc.status;
}

/*
 * Sends until a request fails; kills the peer after @before requests. Returns the status of the
 * failed request.
 */
static enum ibv_wc_status send_on(struct host *host, struct ibv_qp *qp, struct ibv_send_wr *wr,
				  pid_t victim, int before)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	for (int sent = 0; !status; sent++) {
		if (sent == before)
			kill(victim, SIGKILL);
		status = outcome_of(host, qp, wr);
	}
	return status;
}

/* The peer is dead, but the daemon may not know it yet. */
static enum ibv_wc_status send_afterwards(struct host *host, struct ibv_qp *qp,
					  struct ibv_send_wr *wr, pid_t victim)
{
	siginfo_t info;

	kill(victim, SIGKILL);
	NEED(!waitid(P_PID, (id_t)victim, &info, WEXITED | WNOWAIT));
	return outcome_of(host, qp, wr);
}

static bool good_round(const struct request *request, struct host *host, int round)
{
	struct ibv_qp *qp = rig_qp(host, request->xrc ? IBV_QPT_XRC_SEND : IBV_QPT_RC, NULL);
	struct address mine = { .qpn = qp->qp_num, .lid = host->lid }, theirs;
	bool blocked = request->opcode == IBV_WR_SEND && !request->receives;
	enum ibv_wc_status status;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	pid_t pid;
	int fd;

	pid = start_peer(request, &fd);
	read_address(fd, &theirs);
	write_address(fd, &mine);
	connect_to(qp, &theirs, blocked ? 0 : 7);
	read_address(fd, &theirs);
	wr = request_to(request, host, &sge, &theirs);
	status = blocked || round % 2 ? send_afterwards(host, qp, &wr, pid)
				      : send_on(host, qp, &wr, pid, round * 10);
	NEED(waitpid(pid, NULL, 0) == pid);
	close(fd);
	NEED(!ibv_destroy_qp(qp));
	if (status != IBV_WC_RETRY_EXC_ERR)
		printf("%s, round %d: %s\n", request->name, round, ibv_wc_status_str(status));
	return status == IBV_WC_RETRY_EXC_ERR;
}

/* usage: dead-peer REQUEST ROUNDS */
int main(int argc, char **argv)
{
	const struct request *request = argc == 3 ? find_request(argv[1]) : NULL;
	bool good = true;
	struct host *host;

	if (!request)
		return EXIT_FAILURE;
	setvbuf(stdout, NULL, _IOLBF, 0);
	host = rig_host(0);
	for (int round = 0; round < atoi(argv[2]); round++)
		good &= good_round(request, host, round);
	rig_free_host(host);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
