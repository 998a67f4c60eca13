/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Two hosts with a QP each, and a target with two handles: connected, for rows that send. */
#include <harness/emulated.h>
#include "pair.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

struct pair pair_apart(enum ibv_qp_type type)
{
	struct pair pair = { .a = rig_host(0), .b = rig_host(1) };

	pair.qa = rig_qp(pair.a, type, NULL);
	if (type == IBV_QPT_XRC_SEND) {
		pair.xrcd = MADE(xrc_domain(pair.b, -1, O_CREAT));
		pair.srq = MADE(xrc_srq(pair.b, pair.xrcd, RIG_DEPTH, 1));
		pair.qb = MADE(xrc_target(pair.b, pair.xrcd));
	} else {
		pair.qb = rig_qp(pair.b, type, NULL);
	}
	return pair;
}

struct pair pair_up(enum ibv_qp_type type)
{
	return pair_by(type, rig_link_to(0, 0), rig_link_to(0, 0));
}

struct pair pair_by(enum ibv_qp_type type, struct rig_link link_a, struct rig_link link_b)
{
	struct pair pair = pair_apart(type);

	link_a.dest_qpn = pair.qb->qp_num;
	link_a.dlid = pair.b->lid;
	link_b.dest_qpn = pair.qa->qp_num;
	link_b.dlid = pair.a->lid;
	must_eq(rig_bring_up(pair.qa, &link_a), 0);
	must_eq(rig_bring_up(pair.qb, &link_b), 0);
	return pair;
}

void pair_receiver_up(const struct pair *pair, int receives)
{
	const struct rig_link to_a = rig_link_to(pair->qa->qp_num, pair->a->lid);

	must_eq(rig_init(pair->qb, &to_a), 0);
	pair_must_receive(pair, receives);
	must_eq(rig_rtr(pair->qb, &to_a), 0);
}

void pair_tear_down(struct pair *pair)
{
	must_eq(ibv_destroy_qp(pair->qa), 0);
	must_eq(ibv_destroy_qp(pair->qb), 0);
	if (pair->srq) {
		must_eq(ibv_destroy_srq(pair->srq), 0);
		must_eq(ibv_close_xrcd(pair->xrcd), 0);
	}
	rig_free_host(pair->a);
	rig_free_host(pair->b);
}

void pair_pattern(uint8_t *at, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++) {
		seed = seed * 1664525u + 1013904223u;
		at[i] = (uint8_t)(seed >> 24);
	}
}

int pair_post_recv(const struct pair *pair, size_t offset, uint32_t length, uint64_t wr_id)
{
	return pair->srq ? rig_post_srq(pair->b, pair->srq, offset, length, wr_id)
			 : rig_post_recv(pair->b, pair->qb, offset, length, wr_id);
}

struct ibv_send_wr pair_wr(const struct pair *pair, enum ibv_wr_opcode opcode, size_t local,
			   size_t remote, uint32_t length)
{
	struct ibv_send_wr wr = rig_wr(pair->a, opcode, local, length);

	if (pair->srq)
		wr.qp_type.xrc.remote_srqn = xrc_srq_number(pair->srq);
	/* The address of an atomic is in the same place. */
	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)pair->b->buffer + remote;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		wr.wr.atomic.rkey = pair->b->mr->rkey;
	else
		wr.wr.rdma.rkey = pair->b->mr->rkey;
	return wr;
}

struct ibv_send_wr pair_datagram(const struct pair *pair, struct ibv_ah_attr *path,
				 uint32_t length)
{
	struct ibv_ah_attr usual = { .dlid = pair->b->lid, .port_num = 1 };
	struct ibv_send_wr wr = rig_wr(pair->a, IBV_WR_SEND, 0, length);

	wr.wr.ud.ah = MADE(ibv_create_ah(pair->a->pd, path ? path : &usual));
	wr.wr.ud.remote_qpn = pair->qb->qp_num;
	wr.wr.ud.remote_qkey = RIG_QKEY;
	return wr;
}

void pair_must_send_at(const struct pair *pair, uint32_t length, enum ibv_wc_status status,
		       const char *file, int line)
{
	struct ibv_send_wr wr = pair->qa->qp_type == IBV_QPT_UD
					? pair_datagram(pair, NULL, length)
					: pair_wr(pair, IBV_WR_SEND, 0, 0, length);

	rig_must_send_at(pair->qa, &wr, status, file, line);
}

void pair_must_receive(const struct pair *pair, int count)
{
	const uint32_t grh = pair->qb->qp_type == IBV_QPT_UD ? 40 : 0;

	for (int id = 1; id <= count; id++)
		must_eq(pair_post_recv(pair, 0, PAIR_BYTES + grh, (uint64_t)id), 0);
}

void pair_control(const char *verb, int device, const char *words, ...)
{
	char command[512];
	va_list ap;
	int used = snprintf(command, sizeof(command), "LD_PRELOAD= %s ctl %s %s ",
			    getenv("SOFTHCA_TEST_COMMAND"), verb, emulated_name(device).text);

	va_start(ap, words);
	vsnprintf(command + used, sizeof(command) - (size_t)used, words, ap);
	va_end(ap);
	must(!system(command));
}

struct xrc_stage xrc_stage(void)
{
	struct xrc_stage s = { .sender = rig_host(0), .one = rig_host(1), .two = rig_host(1) };
	int fd = xrc_file();

	s.xrcd1 = MADE(xrc_domain(s.one, fd, O_CREAT));
	s.xrcd2 = MADE(xrc_domain(s.two, fd, 0));
	s.srq1 = MADE(xrc_srq(s.one, s.xrcd1, RIG_DEPTH, 1));
	s.srq2 = MADE(xrc_srq(s.two, s.xrcd2, RIG_DEPTH, 1));
	s.send = rig_qp(s.sender, IBV_QPT_XRC_SEND, NULL);
	s.target = MADE(xrc_target(s.one, s.xrcd1));
	s.opened = MADE(xrc_open(s.two, s.xrcd2, s.target->qp_num));
	rig_connect(s.sender, s.send, s.one, s.target);
	return s;
}

struct ibv_send_wr xrc_wr(const struct xrc_stage *s, enum ibv_wr_opcode opcode, struct ibv_srq *srq)
{
	struct ibv_send_wr wr = rig_wr(s->sender, opcode, 0, XRC_BYTES);

	wr.qp_type.xrc.remote_srqn = xrc_srq_number(srq);
	return wr;
}

void xrc_must_send_at(struct xrc_stage *s, struct ibv_srq *srq, struct host *host,
		      enum ibv_wc_status status, const char *file, int line)
{
	static unsigned int seed;
	struct ibv_send_wr wr = xrc_wr(s, IBV_WR_SEND, srq);
	uint32_t number = xrc_srq_number(srq);
	struct ibv_wc wc;

	pair_pattern(s->sender->buffer, XRC_BYTES, ++seed);
	must_eq_at(rig_post_srq(host, srq, 4096, XRC_BYTES, number), 0, file, line);
	rig_must_send_at(s->send, &wr, status, file, line);
	if (status)
		return;
	wc = rig_must_complete_at(host->cq, number, IBV_WC_SUCCESS, file, line);
	must_eq_at(wc.qp_num, s->target->qp_num, file, line);
	must_eq_at(wc.src_qp, emulated_src_qp(number, s->send->qp_num), file, line);
	must_eq_at(memcmp(host->buffer + 4096, s->sender->buffer, XRC_BYTES), 0, file, line);
}
