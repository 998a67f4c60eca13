/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A query of a two-way QP (contract 5.5), attributes of one half, and which process receives. */

#define GROUP "state"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <harness/emulated.h>
#include "pair.h"

static void every_field_of_init(const struct side *side, const struct ibv_qp_init_attr *init_attr,
				const struct ibv_qp_cap *cap)
{
	must(init_attr->qp_context == side);
	must(init_attr->send_cq == side->cq);
	must(init_attr->recv_cq == side->cq);
	must(!init_attr->srq);
	must(init_attr->xrc_domain == side->domain);
	must_eq(init_attr->qp_type, IBV_QPT_XRC);
	must_eq(init_attr->sq_sig_all, 0);
	must(!memcmp(&init_attr->cap, cap, sizeof(*cap)));
}

static void every_field_in(struct side *side, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	int routed = state >= IBV_QPS_RTR, sends = state >= IBV_QPS_RTS;

	memset(&attr, 0x5a, sizeof(attr));
	memset(&init_attr, 0x5a, sizeof(init_attr));
	must_eq(ibv_query_qp(side->qp, &attr, mask, &init_attr), 0);
	must_eq(attr.qp_state, state);
	must_eq(attr.cur_qp_state, state);
	must_eq(attr.qkey, 0);
	must_eq(attr.port_num, 1);
	must_eq(attr.pkey_index, 0);
	/* If max_dest_rd_atomic is 0, the drivers do not grant remote reads and atomics. */
	must_eq(attr.qp_access_flags,
		routed ? SIDE_ACCESS & ~IBV_ACCESS_LOCAL_WRITE : IBV_ACCESS_REMOTE_WRITE);
	must_eq(attr.dest_qp_num, routed ? side->peer.qp_num : 0);
	must_eq(attr.rq_psn, routed ? side->peer.psn : 0);
	must_eq(attr.path_mtu, routed ? IBV_MTU_1024 : 0);
	must_eq(attr.ah_attr.dlid, routed ? side->peer.lid : 0);
	must_eq(attr.max_dest_rd_atomic, emulated_rd_atomic(routed ? 5 : 0));
	must_eq(attr.min_rnr_timer, routed ? 12 : 0);
	must_eq(attr.sq_psn, sends ? side->own.psn : 0);
	must_eq(attr.timeout, sends ? 10 : 0);
	must_eq(attr.retry_cnt, sends ? 3 : 0);
	must_eq(attr.rnr_retry, sends ? 6 : 0);
	must_eq(attr.max_rd_atomic, emulated_rd_atomic(sends ? 3 : 0));
	must_eq(attr.sq_draining, 0);
	must_eq(attr.en_sqd_async_notify, 0);
	must_eq(attr.alt_ah_attr.dlid, 0);
	must_eq(attr.alt_timeout, 0);
	must(attr.cap.max_send_wr >= SIDE_DEPTH);
	must(attr.cap.max_send_sge >= 1);
	must(attr.cap.max_inline_data >= 64);
	must_eq(attr.cap.max_recv_wr, 0);
	must_eq(attr.cap.max_recv_sge, 0);
	every_field_of_init(side, &init_attr, &attr.cap);
}

/* The library returns every field, whatever the mask selects: mask 0, one bit or every bit. */
ROW("a query returns every field in each state, whatever its mask is")
{
	const enum ibv_qp_state last = emulated_drains() ? IBV_QPS_SQD : IBV_QPS_RTS;

	must_eq(side_state(&a), IBV_QPS_RESET);
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= last; state++) {
		must_eq(side_modify(&a, state), 0);
		for (int mask = IBV_QP_STATE; mask >= -1; mask--)
			every_field_in(&a, state, mask);
	}
}

/* The sending half counts packets in sq_psn, the receiving half in rq_psn. */
ROW("a query returns the next sequence number of each half")
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	side_bring(&a, IBV_QPS_RTR);
	side_bring(&b, IBV_QPS_RTS);
	one_message(&b, &a);	/* two packets each; a QP in RTR receives */
	must_eq(side_modify(&a, IBV_QPS_RTS), 0);
	both_ways();
	must_eq(ibv_query_qp(a.qp, &attr, IBV_QP_RQ_PSN | IBV_QP_SQ_PSN, &init_attr), 0);
	must_eq(attr.rq_psn, (b.own.psn + 4) & 0xffffff);
	must_eq(attr.sq_psn, (a.own.psn + 2) & 0xffffff);
}

/* A value that only the sending half checks is refused after the receiving half has moved. */
ROW("after one half refused a value, the transition succeeds with another value")
{
	struct ibv_qp_attr attr;
	int mask;

	side_bring(&a, IBV_QPS_RTR);
	attr = side_attr(&a, IBV_QPS_RTS, &mask);
	attr.max_rd_atomic = 255;
	must_eq(ibv_modify_qp(a.qp, &attr, mask), EINVAL);
	must_eq(side_state(&a), IBV_QPS_RTR);
	must_eq(side_modify(&a, IBV_QPS_RTS), 0);
	side_bring(&b, IBV_QPS_RTS);
	both_ways();
}

ROW("access flags and min_rnr_timer are the receiving half's: they hold for incoming requests")
{
	struct ibv_qp_attr attr = { .qp_access_flags = IBV_ACCESS_REMOTE_READ, .min_rnr_timer = 7 };
	struct ibv_qp_init_attr init_attr;

	connect_sides();
	must_eq(ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER), 0);
	must_eq(ibv_query_qp(b.qp, &attr, 0, &init_attr), 0);
	must_eq(attr.qp_access_flags, IBV_ACCESS_REMOTE_READ);
	must_eq(attr.min_rnr_timer, 7);
	side_send(&a, IBV_WR_RDMA_READ, 0, 100);
	completes_with(&a, IBV_WC_SUCCESS);
	side_send(&a, IBV_WR_RDMA_WRITE, 0, 100);
	completes_with(&a, IBV_WC_REM_INV_REQ_ERR);
}

/* MVAPICH 1.x has one QP for each peer host, which delivers to the SRQs of all its processes. */
static void neighbour(int wire, int fd)
{
	uint32_t visible;
	struct ibv_wc wc;
	struct side c;

	row_inherit("neighbour: ");
	side_open(&c, 1, fd, false);
	side_post_recv(&c, 815, 0, 4096);
	must(write(wire, &c.own.srq_num, sizeof(uint32_t)) == sizeof(uint32_t));
	must(read(wire, &visible, sizeof(visible)) == sizeof(visible));
	wc = side_poll(&c);
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.wr_id, 815);
	must_eq(wc.qp_num, visible);
	/* on mlx5 it is the sender's number, which this process does not know */
	if (!emulated_is_mlx5())
		must_eq(wc.src_qp, c.own.srq_num);
	must_eq(wc.byte_len, 300);
	side_close(&c);
	_exit(0);
}

ROW("a two-way QP delivers to another process's SRQ, under its visible number")
{
	int ends[2], fd = shared_file(), status;
	pid_t pid;

	must(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	pid = fork();
	must(pid >= 0);
	close(ends[!!pid]); /* so a read fails if the other process has ended */
	if (!pid)
		neighbour(ends[1], fd);
	side_close(&b);
	side_open(&b, 1, fd, false);
	side_create_qp(&b, SIDE_DEPTH);
	meet();
	connect_sides();
	must(read(ends[0], &a.peer.srq_num, sizeof(uint32_t)) == sizeof(uint32_t));
	side_send(&a, IBV_WR_SEND, 0, 300);
	completes_with(&a, IBV_WC_SUCCESS);
	must(write(ends[0], &b.own.qp_num, sizeof(uint32_t)) == sizeof(uint32_t));
	must(waitpid(pid, &status, 0) == pid);
	if (status)
		_exit(1);	/* the neighbour has printed why */
	side_no_completion(&b);
}
