/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The exchange, in one process. A second context registers with the receive QP, and the creator
 * unregisters. The message arrives only if the second registration keeps the QP.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../rc_masks.h"
#include "exchange.h"

#define BYTES 1000
#define SEND_PSN 0x111
#define TIMEOUT_US 20000000

/* A verb that returns a pointer, and one that returns 0. */
#define MAKE(to, verb, ...) must((to = verbs->verb(__VA_ARGS__)) != NULL, #verb)
#define DO(verb, ...) must(!verbs->verb(__VA_ARGS__), #verb)

struct side {
	struct ibv_context *context;
	struct ibv_xrc_domain *domain;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

static const struct verbs *verbs;
static struct side creator, registrant;	/* two contexts of one device */
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_qp *qp;
static uint32_t rcv_qpn;
static unsigned char buffer[2 * BYTES];	/* sent, received */

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	printf("exchange: %s: errno %s\n", what, strerror(errno));
	exit(1);
}

static void open_side(struct side *side, struct ibv_device *device, int fd)
{
	MAKE(side->context, open_device, device);
	MAKE(side->domain, open_xrc_domain, side->context, fd, O_CREAT);
	MAKE(side->pd, alloc_pd, side->context);
	MAKE(side->cq, create_cq, side->context, 16, NULL, NULL, 0);
}

static void open_sides(void)
{
	struct ibv_device **list;
	FILE *file = tmpfile();

	MAKE(list, get_device_list, NULL);
	must(list[0] && file, "no device or no file");
	open_side(&creator, list[0], fileno(file));
	open_side(&registrant, list[0], fileno(file));
	verbs->free_device_list(list);
	fclose(file);
}

static void create_objects(void)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr attr = {
		.send_cq = creator.cq,
		.recv_cq = creator.cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.qp_type = IBV_QPT_XRC,
		.xrc_domain = creator.domain,
	};

	MAKE(mr, reg_mr, creator.pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
	MAKE(srq, create_xrc_srq, creator.pd, creator.domain, creator.cq, &srq_attr);
	must(srq->xrc_srq_num, "the SRQ has no number");
	DO(create_xrc_rcv_qp, &attr, &rcv_qpn);
	MAKE(qp, create_qp, creator.pd, &attr);
}

static struct ibv_qp_attr attr_to(enum ibv_qp_state state, uint32_t dest_qp_num, uint16_t lid)
{
	return (struct ibv_qp_attr){
		.qp_state = state,
		.path_mtu = IBV_MTU_1024,
		.rq_psn = SEND_PSN,
		.sq_psn = SEND_PSN,
		.dest_qp_num = dest_qp_num,
		.ah_attr = { .dlid = lid, .port_num = 1 },
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.port_num = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
}

/* With the masks of RC, as old programs pass them. */
static void connect_qps(void)
{
	struct ibv_port_attr port;

	DO(query_port, creator.context, 1, &port);
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		struct ibv_qp_attr rcv_qp_attr = attr_to(state, qp->qp_num, port.lid);
		struct ibv_qp_attr qp_attr = attr_to(state, rcv_qpn, port.lid);
		int mask = mask_to(state);

		if (state != IBV_QPS_RTS)
			DO(modify_xrc_rcv_qp, creator.domain, rcv_qpn, &rcv_qp_attr, mask);
		DO(modify_qp, qp, &qp_attr, mask);
	}
}

static void post(void)
{
	struct ibv_sge from = { (uintptr_t)buffer, BYTES, mr->lkey };
	struct ibv_sge to = { (uintptr_t)buffer + BYTES, BYTES, mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = {
		.sg_list = &from,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.xrc_remote_srq_num = srq->xrc_srq_num,
	}, *bad_send;

	for (size_t i = 0; i < BYTES; i++)
		buffer[i] = (unsigned char)(i * 7 + 1);
	memset(buffer + BYTES, 0, BYTES);
	must(!ibv_post_srq_recv(srq, &recv, &bad_recv), "ibv_post_srq_recv");
	must(!ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
}

/* The completions of both sides come in this one CQ. */
static void poll_completions(void)
{
	struct ibv_wc wc;
	int seen = 0;

	/* Each turn without a completion takes 200 us or more. */
	for (int turns = 0; seen < 2 && turns < TIMEOUT_US / 200; turns++) {
		if (!ibv_poll_cq(creator.cq, 1, &wc)) {
			usleep(200);
			continue;
		}
		must(wc.status == IBV_WC_SUCCESS, "a work request failed");
		seen++;
	}
	must(seen == 2, "a completion is missing");
	must(!memcmp(buffer, buffer + BYTES, BYTES), "the payload differs");
}

static void close_side(struct side *side)
{
	DO(close_xrc_domain, side->domain);
	DO(destroy_cq, side->cq);
	DO(dealloc_pd, side->pd);
	DO(close_device, side->context);
}

void exchange(const struct verbs *table)
{
	verbs = table;
	open_sides();
	create_objects();
	connect_qps();
	DO(reg_xrc_rcv_qp, registrant.domain, rcv_qpn);
	DO(unreg_xrc_rcv_qp, creator.domain, rcv_qpn);
	post();
	poll_completions();
	DO(unreg_xrc_rcv_qp, registrant.domain, rcv_qpn);
	DO(destroy_qp, qp);
	DO(destroy_srq, srq);
	DO(dereg_mr, mr);
	close_side(&registrant);
	close_side(&creator);
	printf("exchange: done\n");
}
