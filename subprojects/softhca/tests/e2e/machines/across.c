/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Rows that run on two machines at the same time: what arrives at the other one, and what fails.
 * They tell each other their numbers by TCP. ACROSS_SERVER is the address of one of them.
 */
#define GROUP "usual"
static void meet(void);
#define ROW_BEFORE meet
#define ROW_AFTER NULL

#include "../rig.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (8u << 20) /* of the host's buffer */
#define HALF (BYTES / 2) /* data arrives in the second half, and must equal the first half */
#define SENDS 5000
#define LAST 0x80000000u /* in the immediate data: no message follows */
#define MOST 200000u /* bytes of a message */
#define ADDS 300 /* of each machine */
#define BEGUN 5 /* sends that are under way when the QP goes to SQD */
#define LATE 100000 /* microseconds */

/* What one machine tells the other. */
struct side {
	uint64_t address;
	uint32_t qpn, target, srqn, rkey;
	uint16_t lid;
};

static struct host *host;
static struct side ours, theirs;
static bool server; /* has what the other reads, writes and sends to */
static int talk;

static void swap(void)
{
	must_eq(write(talk, &ours, sizeof(ours)), (ssize_t)sizeof(ours));
	must_eq(recv(talk, &theirs, sizeof(theirs), MSG_WAITALL), (ssize_t)sizeof(theirs));
}

/* The server has the address, so that it can bind a socket to it. */
static void meet(void)
{
	const char *port = getenv("ACROSS_PORT");
	struct sockaddr_in address = { .sin_family = AF_INET };
	int sock = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	char closed;

	address.sin_port = htons((uint16_t)(port ? atoi(port) : 7700));
	must_eq(inet_pton(AF_INET, getenv("ACROSS_SERVER"), &address.sin_addr), 1);
	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	server = !bind(sock, (struct sockaddr *)&address, sizeof(address));
	if (server) {
		must_eq(listen(sock, 1), 0);
		talk = accept(sock, NULL, NULL);
		must(talk >= 0);
	} else {
		talk = socket(AF_INET, SOCK_STREAM, 0);
		while (connect(talk, (struct sockaddr *)&address, sizeof(address)))
			usleep(1000);
	}
	close(sock);
	/* The client's next row, which may come at once, must not connect to this row's listener. */
	if (server)
		must_eq(write(talk, "", 1), 1);
	else
		must_eq(read(talk, &closed, 1), 1);
	host = rig_host(0);
	rig_use(host, rig_map(BYTES), BYTES);
	ours.address = (uint64_t)(uintptr_t)host->buffer;
	ours.rkey = host->mr->rkey;
	ours.lid = host->lid;
}

/* @retry_cnt 0: no answer may be later than 9 s. */
static struct rig_link link_of(const struct ibv_qp *qp, uint8_t rnr_retry, uint8_t retry_cnt)
{
	struct rig_link link;

	ours.qpn = qp->qp_num;
	swap();
	link = rig_link_to(theirs.qpn, theirs.lid);
	link.rnr_retry = rnr_retry;
	link.timeout = retry_cnt ? 17 : 21;
	link.retry_cnt = retry_cnt;
	return link;
}

static struct ibv_qp *bring_up(struct ibv_qp *qp, const struct rig_link *link)
{
	must_eq(rig_bring_up(qp, link), 0);
	swap();
	return qp;
}

static struct ibv_qp *connect_qp(struct ibv_qp *qp, uint8_t rnr_retry, uint8_t retry_cnt)
{
	const struct rig_link link = link_of(qp, rnr_retry, retry_cnt);

	return bring_up(qp, &link);
}

static struct ibv_qp *connected(uint8_t rnr_retry, uint8_t retry_cnt)
{
	return connect_qp(rig_qp(host, IBV_QPT_RC, NULL), rnr_retry, retry_cnt);
}

static struct ibv_send_wr remote(enum ibv_wr_opcode opcode, size_t at, uint32_t length, size_t to)
{
	struct ibv_send_wr wr = rig_wr(host, opcode, at, length);

	wr.wr.rdma.remote_addr = theirs.address + to;
	wr.wr.rdma.rkey = theirs.rkey;
	return wr;
}

static void fill(void)
{
	uint32_t value = 1;

	for (size_t i = 0; i < HALF; i++) {
		value = value * 1103515245u + 12345u;
		host->buffer[i] = (uint8_t)(value >> 24);
	}
}

static bool same(size_t one, size_t other, size_t length)
{
	return !memcmp(host->buffer + one, host->buffer + other, length);
}

/* The server's second half gets the client's first one, with immediate data at the end. */
static void write_across(struct ibv_qp *qp)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE_WITH_IMM, 3, 700001, HALF);
	struct ibv_wc wc;

	fill();
	must_eq(rig_post_recv(host, qp, 0, 0, 1), 0);
	swap();
	wr.imm_data = htonl(0xfeed);
	if (!server) {
		rig_must_send(qp, &wr, IBV_WC_SUCCESS);
		return;
	}
	wc = rig_must_complete(host->cq, 1, IBV_WC_SUCCESS);
	must_eq(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	must_eq(ntohl(wc.imm_data), 0xfeed);
	must_eq(wc.byte_len, 700001);
	must(same(3, HALF, 700001));
	must_eq(host->buffer[HALF + 700001], 0);
}

ROW("writes arrive once, with immediate data, and are read back")
{
	struct ibv_qp *qp = connected(7, 7);

	write_across(qp);
	if (!server) {
		struct ibv_send_wr wr = remote(IBV_WR_RDMA_READ, HALF, 700001, HALF);

		rig_must_send(qp, &wr, IBV_WC_SUCCESS);
		must(same(3, HALF, 700001));
	}
	swap();
}

/* The sender may have four reads on their way, the receiver serves one. */
ROW("a long read is one read for its receiver")
{
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	struct rig_link link;

	fill(); /* on both machines, with the same bytes */
	link = link_of(qp, 7, 7);
	link.max_dest_rd_atomic = 1;
	bring_up(qp, &link);
	if (!server) {
		struct ibv_send_wr wr = remote(IBV_WR_RDMA_READ, HALF, 700001, 0);

		rig_must_send(qp, &wr, IBV_WC_SUCCESS);
		must(same(0, HALF, 700001));
	}
	swap();
}

ROW("a write of an unreliable connection arrives whole")
{
	write_across(connect_qp(rig_qp(host, IBV_QPT_UC, NULL), 0, 0));
	swap();
}

/* Two at a time: each must be answered again if its answer was lost. */
static void add(struct ibv_qp *qp, uint64_t address, uint32_t rkey)
{
	const volatile uint64_t *old = (const void *)(host->buffer + 64);
	uint64_t before = 0;

	for (int i = 0; i < ADDS; i++) {
		struct ibv_send_wr wr =
			rig_wr(host, IBV_WR_ATOMIC_FETCH_AND_ADD, 64 + (uint64_t)(i % 2) * 8, 8);

		wr.wr.atomic.remote_addr = address;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 3;
		must_eq(rig_post(qp, &wr), 0);
		if (i % 2 == 0)
			continue;
		rig_must_succeed(host->cq);
		rig_must_succeed(host->cq);
		must(i == 1 || old[0] >= before + 3);
		must(old[1] >= old[0] + 3);
		before = old[1];
	}
}

ROW("both machines add to one word once each time")
{
	struct ibv_qp *qp = connected(7, 7), *near = rig_qp(host, IBV_QPT_RC, NULL);
	struct ibv_qp *end = rig_qp(host, IBV_QPT_RC, NULL);

	if (server) {
		rig_connect(host, near, host, end);
		add(near, ours.address, ours.rkey);
	} else {
		add(qp, theirs.address, theirs.rkey);
	}
	swap();
	must_eq(*(uint64_t *)host->buffer, server ? 2 * ADDS * 3 : 0);
}

static uint32_t length_of(uint32_t number)
{
	return number % 100 ? number * 7919u % 6000 : number * 7919u % (MOST + 1);
}

static void receive_all(struct ibv_qp *qp)
{
	for (uint32_t i = 0; i < RIG_DEPTH; i++)
		must_eq(rig_post_recv(host, qp, HALF + (i % RIG_DEPTH) * MOST, MOST, i), 0);
	swap();
	for (uint32_t i = 0, last = 0; !last; i++) {
		const size_t at = HALF + (i % RIG_DEPTH) * MOST;
		struct ibv_wc wc = rig_must_complete(host->cq, i, IBV_WC_SUCCESS);

		last = ntohl(wc.imm_data) & LAST;
		must_eq(ntohl(wc.imm_data) & ~LAST, i);
		must_eq(wc.byte_len, length_of(i));
		must(same(i % SENDS, at, wc.byte_len));
		must_eq(rig_post_recv(host, qp, at, MOST, i + RIG_DEPTH), 0);
	}
}

static void send_all(struct ibv_qp *qp)
{
	uint32_t count = 0, last = 0;

	swap();
	for (; !last; count++) {
		struct ibv_send_wr wr =
			rig_wr(host, IBV_WR_SEND_WITH_IMM, count % SENDS, length_of(count));

		if (count >= RIG_DEPTH)
			rig_must_complete(host->cq, count - RIG_DEPTH, IBV_WC_SUCCESS);
		if (count >= SENDS - 1 && rig_readable(STDIN_FILENO, 0))
			last = LAST;
		wr.imm_data = htonl(count | last);
		wr.wr_id = count;
		must_eq(rig_post(qp, &wr), 0);
	}
	for (uint32_t i = count - RIG_DEPTH; i < count; i++)
		rig_must_complete(host->cq, i, IBV_WC_SUCCESS);
}

/* If the sender's stdin has not ended by then, more sends follow until it ends. */
ROW("5000 sends arrive whole, once and in order")
{
	struct ibv_qp *qp = connected(7, 0);

	fill();
	if (server)
		receive_all(qp);
	else
		send_all(qp);
	swap();
}

ROW("a receiver that is late gets the message, or the sender gives up")
{
	struct ibv_qp *qp = connected(7, 7), *hurried = connected(2, 7);
	struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, 0, 100);

	if (server) {
		usleep(LATE);
		must_eq(rig_post_recv(host, qp, 0, 100, 5), 0);
		rig_must_complete(host->cq, 5, IBV_WC_SUCCESS);
	} else {
		rig_must_send(qp, &wr, IBV_WC_SUCCESS);
		rig_must_send(hurried, &wr, IBV_WC_RNR_RETRY_EXC_ERR);
	}
	swap();
}

ROW("a message that is too long is an error of both")
{
	struct ibv_qp *qp = connected(7, 7);
	struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, 0, 100001);

	must_eq(rig_post_recv(host, qp, 0, 100000, 5), 0);
	swap();
	if (server)
		rig_must_complete(host->cq, 5, IBV_WC_LOC_LEN_ERR);
	else
		rig_must_send(qp, &wr, IBV_WC_REM_INV_REQ_ERR);
	swap();
	must_eq(rig_state(qp), IBV_QPS_ERR);
}

ROW("a wrong key is an error of both")
{
	struct ibv_qp *qp = connected(7, 7);
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 0, 300000, 0);

	wr.wr.rdma.rkey ^= 0x5500;
	if (server) {
		swap();
		rig_must_hear(host, IBV_EVENT_QP_ACCESS_ERR, qp);
	} else {
		rig_must_send(qp, &wr, IBV_WC_REM_ACCESS_ERR);
		swap();
	}
	must_eq(rig_state(qp), IBV_QPS_ERR);
}

ROW("XRC goes both ways")
{
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	struct ibv_srq *srq = MADE(xrc_srq(host, xrcd, RIG_DEPTH, 1));
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_XRC_SEND, NULL);
	struct ibv_qp *target = MADE(xrc_target(host, xrcd));
	struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, 1000, 90000);
	struct rig_link link;
	int both = 0;

	fill();
	ours.qpn = qp->qp_num;
	ours.target = target->qp_num;
	ours.srqn = xrc_srq_number(srq);
	swap();
	link = rig_link_to(theirs.qpn, theirs.lid);
	must_eq(rig_bring_up(target, &link), 0);
	link = rig_link_to(theirs.target, theirs.lid);
	must_eq(rig_bring_up(qp, &link), 0);
	must_eq(rig_post_srq(host, srq, HALF, 90000, 1), 0);
	swap();
	wr.qp_type.xrc.remote_srqn = theirs.srqn;
	must_eq(rig_post(qp, &wr), 0);
	for (int i = 0; i < 2; i++)
		both |= rig_must_succeed(host->cq).opcode == IBV_WC_RECV ? 1 : 2;
	must_eq(both, 3);
	must(same(1000, HALF, 90000));
	swap();
}

/* ---- while a test disturbs the machines ---- */

#undef GROUP
#define GROUP "disturbed"

/* The receiver's acknowledgements are lost, but not what says that a key is wrong. */
ROW("an error acknowledges what was before it")
{
	struct ibv_qp *qp = connected(7, 7);
	struct ibv_send_wr good = remote(IBV_WR_RDMA_WRITE, 0, 8, 0), bad = good;

	good.wr_id = 1;
	bad.wr_id = 2;
	bad.wr.rdma.rkey ^= 0x5500;
	if (!server) {
		must_eq(rig_post(qp, &good), 0);
		must_eq(rig_post(qp, &good), 0);
		must_eq(rig_post(qp, &bad), 0);
		rig_must_complete(host->cq, 1, IBV_WC_SUCCESS);
		rig_must_complete(host->cq, 1, IBV_WC_SUCCESS);
		rig_must_complete(host->cq, 2, IBV_WC_REM_ACCESS_ERR);
	}
	swap();
}

/* The receiver's answers are lost until the sender is in SQD. */
ROW("what was begun is finished before the event of SQD")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_qp *qp = connected(7, 7);
	struct ibv_wc wc[BEGUN + 1];

	for (uint64_t i = 0; i < BEGUN; i++)
		must_eq(rig_post_recv(host, qp, HALF, 1000, i), 0);
	swap();
	for (int i = 0; i < BEGUN; i++) {
		struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, 0, 1000);

		if (server)
			rig_must_succeed(host->cq);
		else
			must_eq(rig_post(qp, &wr), 0);
	}
	swap();
	if (!server) {
		must_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
		must_eq(write(STDOUT_FILENO, "in SQD\n", 7), 7);
		rig_must_hear(host, IBV_EVENT_SQ_DRAINED, qp);
		must_eq(ibv_poll_cq(host->cq, BEGUN + 1, wc), BEGUN);
	}
	swap();
}

/* Fails when the other end is gone, or its daemon: the tests read the status in its line. */
ROW("an endless stream")
{
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	struct rig_link link = link_of(qp, 7, 7);
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

	link.timeout = 15;
	bring_up(qp, &link);
	for (uint32_t i = 0; server && i < RIG_DEPTH; i++)
		must_eq(rig_post_recv(host, qp, i * MOST, MOST, i), 0);
	swap();
	for (uint32_t i = 0; wc.status == IBV_WC_SUCCESS; i++) {
		struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, i % 1000, length_of(i));

		if (!server)
			must_eq(rig_post(qp, &wr), 0);
		if (i == 20)
			must_eq(write(STDOUT_FILENO, "streaming\n", 10), 10);
		if (!rig_poll(host->cq, &wc, 10000))
			row_fail(__FILE__, __LINE__, "nothing comes any more");
		if (server && wc.status == IBV_WC_SUCCESS)
			must_eq(rig_post_recv(host, qp, wc.wr_id * MOST, MOST, wc.wr_id), 0);
	}
	row_fail(__FILE__, __LINE__, "the end: %s", ibv_wc_status_str(wc.status));
}
