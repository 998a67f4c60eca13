/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Two processes, each on a device (and so a host) of its own, post the same operations to each
 * other after a barrier, through one old XRC QP each. Each tells the other its LID, QP number, PSN
 * and SRQ number, and for RDMA a key and an address.
 */

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <harness/emulated.h>
#include "../side.h"
#include <harness/row.h>

#define SLOTS 4		/* of each kind in flight */
#define SLOT_BYTES 8192
#define COUNTER_START 1000
#define COUNTER_NEW 77

struct op {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	int flags;
	enum ibv_wc_opcode completion;
	bool takes_recv;
	bool hits;	/* compare-and-swap: the comparison holds */
};

/* Messages of less than one packet, of one and of several. The MTU is 1024. */
static const struct op ops[] = {
	{ "send", IBV_WR_SEND, 1024, 0, IBV_WC_SEND, true },
	{ "send, several packets", IBV_WR_SEND, 5000, 0, IBV_WC_SEND, true },
	{ "send inline", IBV_WR_SEND, 60, IBV_SEND_INLINE, IBV_WC_SEND, true },
	{ "send with immediate", IBV_WR_SEND_WITH_IMM, 1, 0, IBV_WC_SEND, true },
	{ "RDMA write", IBV_WR_RDMA_WRITE, 3000, 0, IBV_WC_RDMA_WRITE, false },
	{ "RDMA write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, 2049, 0, IBV_WC_RDMA_WRITE,
	  true },
	{ "RDMA read", IBV_WR_RDMA_READ, 4100, 0, IBV_WC_RDMA_READ, false },
	{ "compare and swap, equal", IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0, IBV_WC_COMP_SWAP, false,
	  true },
	{ "compare and swap, different", IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0, IBV_WC_COMP_SWAP, false,
	  false },
	{ "fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0, IBV_WC_FETCH_ADD, false },
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

static struct side side;
static int wire;
static int self;	/* 0, 1: the device too */

/* ---- between the processes, without the fabric ---- */

static void tell(const void *mine, void *theirs, size_t size)
{
	must(send(wire, mine, size, MSG_NOSIGNAL) == (ssize_t)size);
	must(recv(wire, theirs, size, MSG_WAITALL) == (ssize_t)size);
}

static void barrier(void)
{
	char here = 1, there = 0;

	tell(&here, &there, 1);
}

/* ---- the memory: for each operation and slot an area to send from and one to receive into ---- */

enum area { SOURCE, SINK };

static uint32_t place(enum area area, size_t op, unsigned slot)
{
	return ((uint32_t)(op * 2 + area) * SLOTS + slot) * SLOT_BYTES;
}

static uint8_t byte_of(int from, size_t op, unsigned slot, uint32_t at)
{
	return (uint8_t)(from * 101 + (int)op * 31 + (int)slot * 7 + (int)at * 13 + (int)(at >> 8));
}

static bool is_atomic(const struct op *op)
{
	return op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static uint64_t *counter(enum area area, size_t op, unsigned slot)
{
	return (uint64_t *)(void *)(side.memory + place(area, op, slot));
}

static void prepare(size_t op)
{
	for (unsigned slot = 0; slot < SLOTS; slot++) {
		memset(side.memory + place(SINK, op, slot), 0xee, SLOT_BYTES);
		for (uint32_t at = 0; at < SLOT_BYTES; at++)
			side.memory[place(SOURCE, op, slot) + at] = byte_of(self, op, slot, at);
		if (is_atomic(&ops[op]))
			*counter(SOURCE, op, slot) = COUNTER_START + slot;
		if (ops[op].takes_recv)
			side_post_recv(&side, op << 8 | slot, place(SINK, op, slot), SLOT_BYTES);
	}
}

static void aim(const struct op *op, size_t index, unsigned slot, struct ibv_send_wr *wr)
{
	if (is_atomic(op)) {
		wr->wr.atomic.remote_addr = side.peer.memory + place(SOURCE, index, slot);
		wr->wr.atomic.compare_add = op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 5 :
					    COUNTER_START + slot + !op->hits;
		wr->wr.atomic.swap = COUNTER_NEW;
	} else {
		wr->wr.rdma.remote_addr =
			side.peer.memory +
			place(op->opcode == IBV_WR_RDMA_READ ? SOURCE : SINK, index, slot);
	}
	wr->imm_data = htonl((uint32_t)index << 8 | slot);
	wr->send_flags |= op->flags;
	wr->wr_id = index << 8 | slot;
}

/* RDMA read and atomics write into local memory. Other operations must not send from there. */
static bool fetches(const struct op *op)
{
	return is_atomic(op) || op->opcode == IBV_WR_RDMA_READ;
}

static void post(size_t first, size_t last)
{
	static struct ibv_send_wr wr[OPS * SLOTS];
	static struct ibv_sge sge[OPS * SLOTS];
	unsigned count = 0;

	/* The requests have the order in which the receives were posted. */
	for (size_t op = first; op <= last; op++)
		for (unsigned slot = 0; slot < SLOTS; slot++, count++) {
			enum area area = fetches(&ops[op]) ? SINK : SOURCE;

			wr[count] = side_wr(&side, &sge[count], ops[op].opcode,
					    place(area, op, slot), ops[op].length);
			aim(&ops[op], op, slot, &wr[count]);
			if (count)
				wr[count - 1].next = &wr[count];
		}
	side_post(&side, wr);
}

/* ---- checks ---- */

static void check_received(const struct ibv_wc *wc, size_t index)
{
	const struct op *op = &ops[index];
	bool write = op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool immediate = write || op->opcode == IBV_WR_SEND_WITH_IMM;

	must_eq(wc->status, IBV_WC_SUCCESS);
	must_eq(wc->opcode, write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
	must_eq(wc->qp_num, side.qp->qp_num);
	must_eq(wc->src_qp, emulated_src_qp(side.srq->xrc_srq_num, side.peer.qp_num));
	must_eq(wc->byte_len, op->length);
	must_eq(wc->wc_flags & IBV_WC_WITH_IMM, immediate ? IBV_WC_WITH_IMM : 0);
	if (immediate)
		must_eq(ntohl(wc->imm_data), wc->wr_id);
}

static void check_sent(const struct ibv_wc *wc, size_t index)
{
	must_eq(wc->status, IBV_WC_SUCCESS);
	must_eq(wc->opcode, ops[index].completion);
	must_eq(wc->qp_num, side.qp->qp_num);
}

static void check_bytes(size_t op, unsigned slot)
{
	const uint8_t *sink = side.memory + place(SINK, op, slot);

	for (uint32_t at = 0; at < ops[op].length; at++)
		must_eq(sink[at], byte_of(!self, op, slot, at));
	for (uint32_t at = ops[op].length; at < SLOT_BYTES; at++)
		must_eq(sink[at], 0xee);
}

/*
 * The peer changed our word once. The value that we fetched is the peer's word before our change.
 */
static void check_counter(size_t index, unsigned slot)
{
	const struct op *op = &ops[index];
	uint64_t start = COUNTER_START + slot;
	uint64_t changed = op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? start + 5
			   : op->hits				     ? COUNTER_NEW
								     : start;

	must_eq(*counter(SOURCE, index, slot), changed);
	must_eq(*counter(SINK, index, slot), start);
}

/* Each request completes once. */
static void poll_all(unsigned sends, unsigned recvs)
{
	bool completed[2][OPS][SLOTS] = { 0 };

	while (sends || recvs) {
		struct ibv_wc wc = side_poll(&side);
		size_t op = (size_t)(wc.wr_id >> 8);
		bool received = wc.opcode & IBV_WC_RECV;
		bool *done;

		must(op < OPS && (wc.wr_id & 0xff) < SLOTS);
		done = &completed[received][op][wc.wr_id & 0xff];
		must(!*done);
		*done = true;
		if (received) {
			check_received(&wc, op);
			must(recvs--);
		} else {
			check_sent(&wc, op);
			must(sends--);
		}
	}
}

static void exchange(const char *row, size_t first, size_t last)
{
	unsigned recvs = 0;

	row_begin(row);
	for (size_t op = first; op <= last; op++) {
		prepare(op);
		recvs += ops[op].takes_recv ? SLOTS : 0;
	}
	barrier();
	post(first, last);
	poll_all((unsigned)(last - first + 1) * SLOTS, recvs);
	barrier();
	for (size_t op = first; op <= last; op++)
		for (unsigned slot = 0; slot < SLOTS; slot++)
			is_atomic(&ops[op]) ? check_counter(op, slot) : check_bytes(op, slot);
	barrier();
	row_ok();
}

static void connect_sides(bool event_mode)
{
	row_begin("connect");
	side_open(&side, self, -1, event_mode);
	side_create_qp(&side, SIDE_DEPTH);
	tell(&side.own, &side.peer, sizeof(side.own));
	side_bring(&side, IBV_QPS_RTS);
	barrier();
	row_ok();
}

static int run(bool event_mode)
{
	row_inherit(self ? "B: " : "A: ");
	connect_sides(event_mode);
	for (size_t op = 0; op < OPS; op++)
		exchange(ops[op].name, op, op);
	exchange("every kind at once", 0, OPS - 1);
	row_begin("close");
	side_close(&side);
	row_ok();
	return 0;
}

int main(int argc, char **argv)
{
	bool event_mode = argc > 1 && !strcmp(argv[1], "--events");
	int ends[2], status;
	pid_t pid;

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	pid = fork();
	must(pid >= 0);
	self = !pid;
	wire = ends[self];
	close(ends[!self]);
	if (!pid)
		return run(event_mode);
	run(event_mode);
	must(waitpid(pid, &status, 0) == pid);
	return status ? 1 : 0;
}
