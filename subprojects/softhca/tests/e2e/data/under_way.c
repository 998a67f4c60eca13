/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Requests under way. Long messages move in pieces: each byte arrives, other QPs are
 * not delayed, and the receiver may fail midway. The senders to a killed peer get no answer.
 */
#include <e2e/pair.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG  ((size_t)3 << 20)
#define CHUNK ((size_t)16 << 20)
#define HUGE  ((size_t)1 << 30)

/* A region of a gigabyte of addresses. Each 16 MB of them map the same memory. */
static struct ibv_sge huge_region(struct host *host)
{
	int fd = memfd_create("huge", MFD_CLOEXEC);
	uint8_t *at = rig_map(HUGE);

	must(fd >= 0 && !ftruncate(fd, (off_t)CHUNK));
	for (size_t offset = 0; offset < HUGE; offset += CHUNK)
		must(mmap(at + offset, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			  0) != MAP_FAILED);
	close(fd);
	return rig_region(host, at, HUGE);
}

static uint8_t *memory(const struct ibv_sge *sge)
{
	return (uint8_t *)(uintptr_t)sge->addr;
}

static struct ibv_send_wr long_request(struct ibv_sge *from, enum ibv_wr_opcode opcode,
				       const struct ibv_sge *to)
{
	return (struct ibv_send_wr){
		.wr_id = 1000, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .sg_list = from,
		.num_sge = 1, .wr.rdma = { .remote_addr = to->addr, .rkey = to->lkey },
	};
}

static void must_move_by_each_operation(enum ibv_qp_type type)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ
	};
	struct pair pair = pair_up(type);
	uint8_t *out = rig_map(LONG), *in = rig_map(LONG);
	struct ibv_sge from = rig_region(pair.a, out, LONG - 4097),
		       to = rig_region(pair.b, in, LONG);

	for (int i = 0; i < (type == IBV_QPT_RC ? 3 : 2); i++) {
		struct ibv_send_wr wr = long_request(&from, opcodes[i], &to);
		struct ibv_wc wc;

		pair_pattern(out, LONG, (unsigned int)i);
		pair_pattern(in, LONG, 77);
		must_eq(rig_post_sge(pair.qb, NULL, to, 5), 0);
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		must(!memcmp(out, in, from.length));
		must(memcmp(out + from.length, in + from.length, LONG - from.length));
		if (opcodes[i] != IBV_WR_RDMA_READ) {
			wc = rig_must_complete(pair.b->cq, 5, IBV_WC_SUCCESS);
			must_eq(wc.byte_len, from.length);
		}
		rig_must_be_quiet(pair.b->cq, 1);
	}
}

ROW("every byte arrives")
{
	must_move_by_each_operation(IBV_QPT_RC);
	must_move_by_each_operation(IBV_QPT_UC);
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
	pair_pattern(memory(&m.from), CHUNK, 5);
	must_eq(rig_post_sge(NULL, m.srq, m.to, 1), 0);
	must_eq(rig_post_srq(m.pair.b, m.srq, 0, 100, 2), 0);
	wr = long_request(&m.from, IBV_WR_SEND, &m.to);
	m.start = seconds();
	must_eq(rig_post(m.pair.qa, &wr), 0);
	must(rig_changes(memory(&m.to)));
	return m;
}

/*
 * If this program is delayed, the long message may have arrived before the row looks. Then the row
 * begins again. If the last of its five attempts holds, it proves the same, late or not: a message
 * that had arrived would have completed before.
 */
static bool must_begin_again(const struct midway *m)
{
	static int attempts;

	return seconds() - m->start >= PROMPT && ++attempts < 5;
}

/*
 * The long message took its buffer with its first byte. A message on another QP is not delayed,
 * overtakes it, and gets the next buffer.
 */
ROW("another sender to the SRQ overtakes")
{
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	struct midway m;

	do {
		m = begin();
		wr = rig_wr(m.pair.a, IBV_WR_SEND, 0, 100);
		must_eq(rig_post(m.other.qa, &wr), 0);
		wc = rig_must_succeed(m.pair.a->cq);
	} while (must_begin_again(&m));
	must_eq(wc.qp_num, m.other.qa->qp_num);
	wc = rig_must_complete(m.pair.b->cq, 2, IBV_WC_SUCCESS);
	must_eq(wc.qp_num, m.other.qb->qp_num);
	must_eq(rig_poll(m.pair.b->cq, &wc, 30000), 1);
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.wr_id, 1);
	must_eq(wc.qp_num, m.pair.qb->qp_num);
	must_eq(wc.byte_len, HUGE);
	must(!memcmp(memory(&m.from), memory(&m.to), CHUNK));
}

/* The receiver fails. Its buffer is flushed, and the sender gets no answer. */
ROW("receiver fails midway")
{
	struct midway m;

	do {
		m = begin();
		must_eq(rig_to_state(m.pair.qb, IBV_QPS_ERR), 0);
	} while (must_begin_again(&m));
	rig_must_complete(m.pair.b->cq, 1, IBV_WC_WR_FLUSH_ERR);
	rig_must_complete(m.pair.a->cq, 1000, IBV_WC_RETRY_EXC_ERR);
	rig_must_be_quiet(m.pair.b->cq, 5); /* the second buffer is still the SRQ's */
}

ROW("a message beyond the port's limit is refused")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_sge sge[2] = { huge_region(pair.a) };
	const struct ibv_sge to = huge_region(pair.b);
	struct ibv_send_wr wr = long_request(sge, IBV_WR_RDMA_WRITE, &to);

	sge[1] = sge[0];
	sge[1].length = 1;
	wr.num_sge = 2;
	rig_must_send(pair.qa, &wr, IBV_WC_LOC_LEN_ERR);
}

/* ---- a peer is killed during the traffic ---- */

#define LENGTH 16384u
#define ROUNDS 4
/*
 * Bytes that the kernel must free when the peer is killed, so that its exit takes milliseconds: as
 * long as a hundred messages.
 */
#define BALLAST ((size_t)16 << 20)

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

/* The address of the other end, which has come as far. */
static struct address exchange(int fd, const struct address *mine)
{
	struct address theirs;

	must(write(fd, mine, sizeof(*mine)) == sizeof(*mine) &&
	     read(fd, &theirs, sizeof(theirs)) == sizeof(theirs));
	return theirs;
}

/* Returns when both ends are connected. */
static struct address connect_by(int fd, struct ibv_qp *qp, const struct address *mine,
				 uint8_t rnr_retry)
{
	const struct address theirs = exchange(fd, mine);
	struct rig_link link = rig_link_to(theirs.qpn, theirs.lid);

	link.timeout = 8;
	link.retry_cnt = 2;
	link.rnr_retry = rnr_retry;
	must_eq(rig_bring_up(qp, &link), 0);
	return exchange(fd, mine);
}

/* The peer posts receives until it is killed. */
static void __attribute__((noreturn)) serve(const struct request *request, int fd)
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

	must(mmap(NULL, BALLAST, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) != MAP_FAILED);
	for (int i = 0; request->receives && i < RIG_DEPTH / 2; i++)
		must_eq(rig_post_srq(host, srq, 0, LENGTH, 1), 0);
	connect_by(fd, qp, &mine, 7);
	for (;;) {
		if (ibv_poll_cq(host->cq, 1, &wc) == 1)
			must_eq(rig_post_srq(host, srq, 0, LENGTH, 1), 0);
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
			must(!waitid(P_PID, (id_t)victim, &info, WEXITED | WNOWAIT));
		must_eq(rig_post(qp, wr), 0);
		must_eq(rig_poll(qp->send_cq, &wc, RIG_PATIENCE_MS), 1);
	}
	return wc.status;
}

static void must_give_no_answer(const struct request *request, int round)
{
	struct host *host = rig_host(0);
	struct ibv_qp *qp = rig_qp(host, request->xrc ? IBV_QPT_XRC_SEND : IBV_QPT_RC, NULL);
	const struct address mine = { .qpn = qp->qp_num, .lid = host->lid };
	bool blocked = request->opcode == IBV_WR_SEND && !request->receives;
	enum ibv_wc_status status;
	struct address theirs;
	struct ibv_send_wr wr;
	int fds[2];
	pid_t pid;

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds) && (pid = fork()) >= 0);
	if (!pid) {
		row_inherit("the peer: ");
		close(fds[0]);
		serve(request, fds[1]);
	}
	close(fds[1]);
	theirs = connect_by(fds[0], qp, &mine, blocked ? 0 : 7);
	wr = request_to(request, host, &theirs);
	status = send_on(qp, &wr, pid, blocked || round % 2 ? 0 : 1 + round * 10);
	must_end(pid, SIGKILL);
	must(!close(fds[0]) && !ibv_destroy_qp(qp));
	rig_free_host(host);
	if (status != IBV_WC_RETRY_EXC_ERR)
		row_fail(__FILE__, __LINE__, "%s, round %d: %s", request->name, round,
			 ibv_wc_status_str(status));
}

ROW("a dead peer gives no answer")
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		for (int round = 0; round < ROUNDS; round++)
			must_give_no_answer(&requests[i], round);
	}
}
