/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * All that a program of OFED does with XRC, in one process. A second context registers with the
 * receive QP, and the creator unregisters. The message arrives only if the second registration
 * keeps the QP. Also compiled as C++.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../rc_masks.h"
#include "exchange.h"

#define BYTES 1000
#define IMM 0x1234
#define SEND_PSN 0x111
#define TIMEOUT_US 20000000

enum { SEND_ID = 1, RECV_ID = 2 };

struct side {
	struct ibv_context *context;
	struct ibv_xrc_domain *domain;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

struct play {
	const struct verbs *verbs;
	struct side creator;
	struct side registrant;		/* the second context */
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	uint32_t rcv_qpn;
	uint16_t lid;
	unsigned char buffer[2 * BYTES];	/* sent, received */
};

static int fail(const char *what)
{
	printf("exchange: %s\n", what);
	return 1;
}

static int fail_errno(const char *what)
{
	printf("exchange: %s: %s\n", what, strerror(errno));
	return 1;
}

/* Verbs that return a positive errno, or -1 with errno set. */
static int failed(int ret, const char *what)
{
	if (ret > 0)
		errno = ret;
	return ret ? fail_errno(what) : 0;
}

static int open_side(struct play *play, struct ibv_device *device, int fd, struct side *side)
{
	const struct verbs *verbs = play->verbs;

	side->context = verbs->open_device(device);
	if (!side->context)
		return fail_errno("ibv_open_device");
	side->domain = verbs->open_xrc_domain(side->context, fd, O_CREAT);
	if (!side->domain)
		return fail_errno("ibv_open_xrc_domain");
	side->pd = verbs->alloc_pd(side->context);
	if (!side->pd)
		return fail_errno("ibv_alloc_pd");
	side->cq = verbs->create_cq(side->context, 16, NULL, NULL, 0);
	return side->cq ? 0 : fail_errno("ibv_create_cq");
}

static int open_sides(struct play *play)
{
	struct ibv_device **list = play->verbs->get_device_list(NULL);
	FILE *file = tmpfile();
	struct ibv_port_attr port;
	int err;

	if (!list || !list[0] || !file)
		return fail_errno("ibv_get_device_list or tmpfile");
	err = open_side(play, list[0], fileno(file), &play->creator);
	err = err ? err : open_side(play, list[0], fileno(file), &play->registrant);
	play->verbs->free_device_list(list);
	fclose(file);
	if (err)
		return err;
	if (failed(play->verbs->query_port(play->creator.context, 1, &port), "ibv_query_port"))
		return 1;
	play->lid = port.lid;
	return 0;
}

static int create_objects(struct play *play)
{
	const struct verbs *verbs = play->verbs;
	struct side *side = &play->creator;
	struct ibv_srq_init_attr srq_attr;
	struct ibv_qp_init_attr attr;

	play->mr =
		verbs->reg_mr(side->pd, play->buffer, sizeof(play->buffer), IBV_ACCESS_LOCAL_WRITE);
	if (!play->mr)
		return fail_errno("ibv_reg_mr");
	memset(&srq_attr, 0, sizeof(srq_attr));
	srq_attr.attr.max_wr = 4;
	srq_attr.attr.max_sge = 1;
	play->srq = verbs->create_xrc_srq(side->pd, side->domain, side->cq, &srq_attr);
	if (!play->srq || !play->srq->xrc_srq_num)
		return fail_errno("ibv_create_xrc_srq");
	memset(&attr, 0, sizeof(attr));
	attr.xrc_domain = side->domain;
	if (failed(verbs->create_xrc_rcv_qp(&attr, &play->rcv_qpn), "ibv_create_xrc_rcv_qp"))
		return 1;
	attr.send_cq = attr.recv_cq = side->cq;
	attr.cap.max_send_wr = 4;
	attr.cap.max_send_sge = 1;
	attr.qp_type = IBV_QPT_XRC;
	play->qp = verbs->create_qp(side->pd, &attr);
	return play->qp ? 0 : fail_errno("ibv_create_qp");
}

static struct ibv_qp_attr attr_to(const struct play *play, enum ibv_qp_state state,
				  uint32_t dest_qp_num)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = state;
	attr.port_num = 1;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = dest_qp_num;
	attr.rq_psn = attr.sq_psn = SEND_PSN;
	attr.max_dest_rd_atomic = attr.max_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.dlid = play->lid;
	attr.ah_attr.port_num = 1;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	return attr;
}

/* With the masks of RC, as old programs pass them. */
static int connect_qps(struct play *play)
{
	static const struct {
		enum ibv_qp_state state;
		int mask;
	} steps[] = { { IBV_QPS_INIT, MASK_INIT },
		      { IBV_QPS_RTR, MASK_RTR },
		      { IBV_QPS_RTS, MASK_RTS } };
	const struct verbs *verbs = play->verbs;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct ibv_qp_attr rcv_qp_attr = attr_to(play, steps[i].state, play->qp->qp_num);
		struct ibv_qp_attr qp_attr = attr_to(play, steps[i].state, play->rcv_qpn);

		if (steps[i].state != IBV_QPS_RTS &&
		    failed(verbs->modify_xrc_rcv_qp(play->creator.domain, play->rcv_qpn,
						    &rcv_qp_attr, steps[i].mask),
			   "ibv_modify_xrc_rcv_qp"))
			return 1;
		if (failed(verbs->modify_qp(play->qp, &qp_attr, steps[i].mask), "ibv_modify_qp"))
			return 1;
	}
	return 0;
}

static int move_registration(struct play *play)
{
	const struct verbs *verbs = play->verbs;

	return failed(verbs->reg_xrc_rcv_qp(play->registrant.domain, play->rcv_qpn),
		      "ibv_reg_xrc_rcv_qp") ||
	       failed(verbs->unreg_xrc_rcv_qp(play->creator.domain, play->rcv_qpn),
		      "ibv_unreg_xrc_rcv_qp");
}

static int query_qps(struct play *play)
{
	const struct verbs *verbs = play->verbs;
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	if (failed(verbs->query_qp(play->qp, &attr, IBV_QP_STATE, &init_attr), "ibv_query_qp"))
		return 1;
	errno = 0;
	if (attr.qp_state != IBV_QPS_RTS || init_attr.qp_type != IBV_QPT_XRC ||
	    init_attr.xrc_domain != play->creator.domain)
		return fail("ibv_query_qp gives another state, type or domain");
	if (failed(verbs->query_xrc_rcv_qp(play->registrant.domain, play->rcv_qpn, &attr,
					   IBV_QP_STATE, &init_attr),
		   "ibv_query_xrc_rcv_qp"))
		return 1;
	if (attr.qp_state != IBV_QPS_RTR)
		return fail("ibv_query_xrc_rcv_qp gives another state than RTR");
	return 0;
}

static int post(struct play *play)
{
	struct ibv_send_wr send, *bad_send;
	struct ibv_recv_wr recv, *bad_recv;
	struct ibv_sge from, to;

	memset(&send, 0, sizeof(send));
	memset(&recv, 0, sizeof(recv));
	from.addr = (uintptr_t)play->buffer;
	to.addr = from.addr + BYTES;
	from.length = to.length = BYTES;
	from.lkey = to.lkey = play->mr->lkey;
	recv.sg_list = &to;
	send.sg_list = &from;
	send.num_sge = recv.num_sge = 1;
	send.wr_id = SEND_ID;
	recv.wr_id = RECV_ID;
	send.opcode = IBV_WR_SEND_WITH_IMM;
	send.send_flags = IBV_SEND_SIGNALED;
	send.imm_data = IMM;
	send.xrc_remote_srq_num = play->srq->xrc_srq_num;
	for (size_t i = 0; i < BYTES; i++)
		play->buffer[i] = (unsigned char)(i * 7 + 1);
	memset(play->buffer + BYTES, 0, BYTES);
	return failed(ibv_post_srq_recv(play->srq, &recv, &bad_recv), "ibv_post_srq_recv") ||
	       failed(ibv_post_send(play->qp, &send, &bad_send), "ibv_post_send");
}

/* Both completions come in this one CQ. */
static int collect(struct play *play)
{
	struct ibv_wc wc;
	uint64_t seen = 0;

	/* Each turn without a completion takes 200 us or more. */
	for (int turns = 0; seen != (SEND_ID | RECV_ID) && turns < TIMEOUT_US / 200; turns++) {
		int got = ibv_poll_cq(play->creator.cq, 1, &wc);

		errno = 0;
		if (got < 0 || (got && wc.status != IBV_WC_SUCCESS))
			return fail("a work request failed");
		if (got && wc.wr_id == RECV_ID && (wc.byte_len != BYTES || wc.imm_data != IMM))
			return fail("the receive completion has another length or imm_data");
		if (got)
			seen |= wc.wr_id;
		else
			usleep(200);
	}
	if (seen != (SEND_ID | RECV_ID))
		return fail("a completion is missing");
	return memcmp(play->buffer, play->buffer + BYTES, BYTES) ? fail("the payload differs") : 0;
}

static int close_side(struct play *play, struct side *side)
{
	const struct verbs *verbs = play->verbs;

	return failed(verbs->close_xrc_domain(side->domain), "ibv_close_xrc_domain") ||
	       failed(verbs->destroy_cq(side->cq), "ibv_destroy_cq") ||
	       failed(verbs->dealloc_pd(side->pd), "ibv_dealloc_pd") ||
	       failed(verbs->close_device(side->context), "ibv_close_device");
}

static int finish(struct play *play)
{
	const struct verbs *verbs = play->verbs;

	return failed(verbs->unreg_xrc_rcv_qp(play->registrant.domain, play->rcv_qpn),
		      "the last ibv_unreg_xrc_rcv_qp") ||
	       failed(verbs->destroy_qp(play->qp), "ibv_destroy_qp") ||
	       failed(verbs->destroy_srq(play->srq), "ibv_destroy_srq") ||
	       failed(verbs->dereg_mr(play->mr), "ibv_dereg_mr") ||
	       close_side(play, &play->registrant) || close_side(play, &play->creator);
}

int exchange(const struct verbs *verbs)
{
	static struct play play;

	play.verbs = verbs;
	if (open_sides(&play) || create_objects(&play) || connect_qps(&play) ||
	    move_registration(&play) || query_qps(&play) || post(&play) || collect(&play) ||
	    finish(&play))
		return 1;
	printf("exchange: done\n");
	return 0;
}

void exchange_print_libraries(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096], before[4096] = "";

	while (maps && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (!path || !strstr(path, "/libibverbs.so") || !strcmp(path, before))
			continue;
		printf("mapped: %s", path);
		strcpy(before, path);
	}
	if (maps)
		fclose(maps);
}
