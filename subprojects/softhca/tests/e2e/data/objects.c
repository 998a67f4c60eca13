/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What SRQs and memory regions do exactly: order of receives, limits, numbers and keys. Which SRQs
 * and keys an XRC message may use. What goes with an object.
 */
#include <e2e/pair.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Inline data has no key, so an inline read has no memory to write into. */
ROW("inline read is refused")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_READ, 0, 0, 8);

	wr.send_flags |= IBV_SEND_INLINE;
	rig_must_send(pair.qa, &wr, IBV_WC_LOC_PROT_ERR);
	must_eq(rig_state(pair.qb), IBV_QPS_RTS);
}

#define SRQ_SLOTS 16

/* Two connections from a to b that share an SRQ. Each reports its receives to its own CQ. */
struct shared {
	struct host *a, *b;
	struct ibv_srq *srq;
	struct ibv_cq *cq[2];
	struct ibv_qp *from[2];
};

static struct shared share(void)
{
	struct shared s = { .a = rig_host(0), .b = rig_host(1) };

	s.srq = MADE(rig_srq(s.b, SRQ_SLOTS - 1));
	for (int i = 0; i < 2; i++) {
		struct ibv_qp *to;

		s.from[i] = rig_qp(s.a, IBV_QPT_RC, NULL);
		s.cq[i] = s.b->cq = MADE(ibv_create_cq(s.b->ctx, SRQ_SLOTS, NULL, NULL, 0));
		to = rig_qp(s.b, IBV_QPT_RC, s.srq);
		rig_connect(s.a, s.from[i], s.b, to);
	}
	return s;
}

static void send_by(const struct shared *s, int i, uint8_t byte)
{
	struct ibv_send_wr wr = rig_wr(s->a, IBV_WR_SEND, 0, 1);

	s->a->buffer[0] = byte;
	rig_must_send(s->from[i], &wr, IBV_WC_SUCCESS);
}

static void must_get(const struct shared *s, int i, uint8_t byte)
{
	rig_must_complete(s->cq[i], byte, IBV_WC_SUCCESS);
	must_eq(s->b->buffer[byte], byte);
}

/*
 * The provider links the free WQEs of an SRQ to a list, in the order in which their completions
 * are polled. The HCA takes receives in the order of the list, not of the ring.
 */
ROW("SRQ receives are taken in the order of the list")
{
	struct shared s = share();

	for (uint8_t id = 1; id <= 2; id++)
		must_eq(rig_post_srq(s.b, s.srq, id, 1, id), 0);
	send_by(&s, 0, 1);
	send_by(&s, 1, 2);
	must_get(&s, 1, 2);
	must_get(&s, 0, 1);
	for (uint8_t id = 3; id <= 2 * SRQ_SLOTS; id++) {
		must_eq(rig_post_srq(s.b, s.srq, id, 1, id), 0);
		send_by(&s, id & 1, id);
		must_get(&s, id & 1, id);
	}
}

/* A request with the number of the old object must not reach the new one. */
ROW("numbers are not reused at once")
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	uint32_t last[4] = { 0 };

	for (int i = 0; i < 3; i++) {
		struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL),
			      *target = MADE(xrc_target(host, xrcd));
		struct ibv_srq *srq = MADE(xrc_srq(host, xrcd, RIG_DEPTH, 1));
		struct ibv_mr *mr = MADE(ibv_reg_mr(host->pd, host->buffer, 100, 0));
		const uint32_t numbers[] = { qp->qp_num, target->qp_num, xrc_srq_number(srq),
					     mr->lkey };

		for (int kind = 0; kind < 4; kind++)
			must(numbers[kind] != last[kind]);
		memcpy(last, numbers, sizeof(last));
		must_eq(ibv_destroy_qp(qp), 0);
		must_eq(ibv_destroy_qp(target), 0);
		must_eq(ibv_destroy_srq(srq), 0);
		must_eq(ibv_dereg_mr(mr), 0);
	}
}

/* The first byte of a zero-based region has address 0, with the lkey and with the rkey. */
ROW("a zero-based region begins at address 0")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_ZERO_BASED;
	struct ibv_mr *from = MADE(ibv_reg_mr(pair.a->pd, pair.a->buffer + 4096, 4096, access));
	struct ibv_mr *to = MADE(ibv_reg_mr(pair.b->pd, pair.b->buffer + 8192, 4096, access));
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, 64);

	memset(pair.a->buffer + 4096 + 128, 0x42, 64);
	wr.sg_list->addr = 128;
	wr.sg_list->lkey = from->lkey;
	wr.wr.rdma.remote_addr = 4096 - 64;
	wr.wr.rdma.rkey = to->rkey;
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	must_eq(pair.b->buffer[8192 + 4095], 0x42);
	must_eq(pair.b->buffer[8192 + 4096 - 65], 0);
	must_eq(pair.b->buffer[8192 + 4096], 0);
	wr.wr.rdma.remote_addr++;
	rig_must_send(pair.qa, &wr, IBV_WC_REM_ACCESS_ERR);
	must_eq(ibv_dereg_mr(from), 0);
	must_eq(ibv_dereg_mr(to), 0);
}

/* ---- XRC ---- */

ROW("an SRQ of another domain is refused")
{
	struct xrc_stage s = xrc_stage();
	struct ibv_xrcd *private = MADE(xrc_domain(s.one, -1, O_CREAT));
	struct ibv_srq *srq = MADE(xrc_srq(s.one, private, RIG_DEPTH, 1));

	xrc_must_send(&s, srq, s.one, IBV_WC_REM_INV_REQ_ERR);
}

ROW("write uses the SRQ's PD")
{
	struct xrc_stage s = xrc_stage();
	struct ibv_send_wr wr = xrc_wr(&s, IBV_WR_RDMA_WRITE, s.srq2);

	memset(s.sender->buffer, 0x5a, 64);
	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)s.two->buffer;
	wr.wr.rdma.rkey = s.two->mr->rkey;
	rig_must_send(s.send, &wr, IBV_WC_SUCCESS);
	must_eq(s.two->buffer[63], 0x5a);
	wr.qp_type.xrc.remote_srqn = xrc_srq_number(s.srq1);
	rig_must_send(s.send, &wr, IBV_WC_REM_ACCESS_ERR);
}

/* The target is in RTR. Only the first packet raises the event. */
ROW("every handle gets one COMM_EST")
{
	struct xrc_stage s = xrc_stage();

	xrc_must_send(&s, s.srq1, s.one, IBV_WC_SUCCESS);
	xrc_must_send(&s, s.srq2, s.two, IBV_WC_SUCCESS);
	rig_must_hear(s.one, IBV_EVENT_COMM_EST, s.target);
	rig_must_hear(s.two, IBV_EVENT_COMM_EST, s.opened);
	rig_must_hear_nothing(s.one->ctx, 10);
	rig_must_hear_nothing(s.two->ctx, 10);
}

/*
 * A message for another SRQ takes no receive of this one. As long as the SRQ has as many receives
 * as the limit, there is no event. There is one event per arming.
 */
ROW("an SRQ below its limit raises one event")
{
	struct xrc_stage s = xrc_stage();
	struct ibv_send_wr wr = xrc_wr(&s, IBV_WR_SEND, s.srq1);
	struct ibv_srq_attr attr = { .srq_limit = 2 };

	for (uint64_t id = 1; id <= 4; id++)
		must_eq(rig_post_srq(s.one, s.srq1, 0, 64, id), 0);
	must_eq(ibv_modify_srq(s.srq1, &attr, IBV_SRQ_LIMIT), 0);
	must_eq(ibv_query_srq(s.srq1, &attr), 0);
	must_eq(attr.srq_limit, 2);
	xrc_must_send(&s, s.srq2, s.two, IBV_WC_SUCCESS);
	rig_must_hear(s.one, IBV_EVENT_COMM_EST, s.target);
	for (uint64_t id = 1; id <= 4; id++) {
		rig_must_hear_nothing(s.one->ctx, 10);
		rig_must_send(s.send, &wr, IBV_WC_SUCCESS);
		rig_must_complete(s.one->cq, id, IBV_WC_SUCCESS);
		if (id == 3)
			rig_must_hear(s.one, IBV_EVENT_SRQ_LIMIT_REACHED, s.srq1);
	}
	rig_must_hear_nothing(s.one->ctx, 10);
	must_eq(ibv_query_srq(s.srq1, &attr), 0);
	must_eq(attr.srq_limit, 0);
}

/* The keys stay the same, and open the changed region. */
ROW("a reregistered region keeps its keys")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_mr *mr = pair.b->mr;
	uint32_t key = mr->lkey;
	uint8_t *elsewhere = rig_map(RIG_BUFFER);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, 100);

	memset(pair.a->buffer, 7, 100);
	must(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, elsewhere, RIG_BUFFER, 0));
	must_eq(mr->lkey, key);
	must_eq(mr->rkey, key);
	must(mr->addr == elsewhere);
	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)elsewhere;
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	must_eq(elsewhere[99], 7);
	must(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE));
	must_eq(mr->lkey, key);
	must_eq(mr->rkey, key);
	rig_must_send(pair.qa, &wr, IBV_WC_REM_ACCESS_ERR);
}

/* ---- events for which the pipe has no room ---- */

#define PIPE_BYTES 8192
#define PIPE_HOLDS (PIPE_BYTES / 16) /* events */

/* The usual pipe takes a second to fill. */
static struct host *with_pipe(int bytes)
{
	struct host *host = rig_host(0);

	must_eq(fcntl(host->ctx->async_fd, F_SETPIPE_SZ, bytes), bytes);
	return host;
}

/* Each round raises one LAST_WQE_REACHED. */
static void raise_last_wqe(struct host *host, struct ibv_qp *qp, int rounds)
{
	struct rig_link link = rig_link_to(qp->qp_num, host->lid);

	while (rounds--) {
		must_eq(rig_init(qp, &link), 0);
		must_eq(rig_rtr(qp, &link), 0);
		must_eq(rig_to_state(qp, IBV_QPS_ERR), 0);
		must_eq(rig_to_state(qp, IBV_QPS_RESET), 0);
	}
}

/*
 * Events wait until there is room, or until their object is destroyed. If one were lost, the row
 * would hang: libibverbs would wait for its acknowledgement.
 */
ROW("unread events go with their object")
{
	struct host *host = with_pipe(PIPE_BYTES);
	struct ibv_srq *srq = MADE(rig_srq(host, 4));
	struct ibv_qp *stays = rig_qp(host, IBV_QPT_RC, srq), *goes = rig_qp(host, IBV_QPT_RC, srq);

	raise_last_wqe(host, stays, PIPE_HOLDS);
	raise_last_wqe(host, goes, 3);
	raise_last_wqe(host, stays, 2);
	must_eq(ibv_destroy_qp(goes), 0);
	for (int i = 0; i < PIPE_HOLDS + 2; i++)
		rig_must_hear(host, IBV_EVENT_QP_LAST_WQE_REACHED, stays);
	rig_must_hear_nothing(host->ctx, 10);
	must_eq(ibv_destroy_qp(stays), 0);
	must_eq(ibv_destroy_srq(srq), 0);
}

/* As many as the usual pipe holds, and one more. */
ROW("unread events in a longer pipe go with their object")
{
	struct host *host = with_pipe(1 << 20);
	struct ibv_srq *srq = MADE(rig_srq(host, 4));
	struct ibv_qp *first = rig_qp(host, IBV_QPT_RC, srq), *last = rig_qp(host, IBV_QPT_RC, srq);

	raise_last_wqe(host, first, 65536 / 16);
	raise_last_wqe(host, last, 1);
	must_eq(ibv_destroy_qp(last), 0);
	must_eq(ibv_destroy_qp(first), 0);
}

static int connect_to_daemon(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", getenv("SOFTHCA_DIR"));
	must(!connect(sock, (struct sockaddr *)&address, sizeof(address)));
	return sock;
}

static pid_t pid_of_daemon(void)
{
	socklen_t size = sizeof(struct ucred);
	struct ucred daemon;
	int sock = connect_to_daemon();

	must(!getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &daemon, &size));
	close(sock);
	return daemon.pid;
}

#define FEW 64 /* the daemon's limit of descriptors, which is more than it has open */

ROW("unread events go with their object when the daemon has no descriptor left")
{
	const pid_t daemon = pid_of_daemon();
	struct host *host = rig_host(0);
	struct ibv_srq *srq = MADE(rig_srq(host, 4));
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, srq);
	struct rlimit usual, few;
	int sock[FEW];
	char byte;

	raise_last_wqe(host, qp, 1);
	must(!prlimit(daemon, RLIMIT_NOFILE, NULL, &usual));
	few = (struct rlimit){ FEW, usual.rlim_max };
	must(!prlimit(daemon, RLIMIT_NOFILE, &few, NULL));
	for (int i = 0; i < FEW; i++)
		sock[i] = connect_to_daemon();
	must_eq(recv(sock[FEW - 1], &byte, 1, 0), 0);
	must_eq(ibv_destroy_qp(qp), 0);
	must(!prlimit(daemon, RLIMIT_NOFILE, &usual, NULL));
}

/* Seconds of processor time that the daemon has used. */
static double used_by_daemon(void)
{
	struct timespec used;
	clockid_t clock;

	must(!clock_getcpuclockid(pid_of_daemon(), &clock) && !clock_gettime(clock, &used));
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* The only event that waits for room goes with its object. Then the pipe has room again. */
ROW("the daemon rests when no event waits for room any more")
{
	struct host *host = with_pipe(PIPE_BYTES);
	struct ibv_srq *srq = MADE(rig_srq(host, 4));
	struct ibv_qp *stays = rig_qp(host, IBV_QPT_RC, srq), *goes = rig_qp(host, IBV_QPT_RC, srq);
	double before;

	raise_last_wqe(host, stays, PIPE_HOLDS);
	raise_last_wqe(host, goes, 1);
	must_eq(ibv_destroy_qp(goes), 0);
	for (int i = 0; i < PIPE_HOLDS; i++)
		rig_must_hear(host, IBV_EVENT_QP_LAST_WQE_REACHED, stays);
	before = used_by_daemon();
	sleep(1);
	must(used_by_daemon() - before < 0.1);
}

/* Deregisters the sender's region, or the responder's, right after the post. */
ROW("a request is executed before a later command")
{
	struct pair pair = pair_up(IBV_QPT_RC);

	for (int round = 0; round < 20; round++) {
		struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, 100);
		struct ibv_mr *from = MADE(ibv_reg_mr(pair.a->pd, pair.a->buffer, 100, 0));
		struct ibv_mr *to = MADE(ibv_reg_mr(pair.b->pd, pair.b->buffer, 100,
						    IBV_ACCESS_LOCAL_WRITE |
							    IBV_ACCESS_REMOTE_WRITE));

		usleep(5000); /* an idle adapter looks for doorbells less often */
		wr.sg_list->lkey = from->lkey;
		wr.wr.rdma.rkey = to->rkey;
		must_eq(rig_post(pair.qa, &wr), 0);
		must_eq(ibv_dereg_mr(round & 1 ? from : to), 0);
		rig_must_succeed(pair.a->cq);
		must_eq(ibv_dereg_mr(round & 1 ? to : from), 0);
	}
}
