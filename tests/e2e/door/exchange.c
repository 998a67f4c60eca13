/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * All that a program of OFED does with XRC, in one process. A second context registers with the
 * receive QP, and the creator unregisters. The message arrives only if the second registration
 * keeps the QP. Also compiled as C++.
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

static const struct verbs *verbs;
static struct side creator, registrant;	/* two contexts of one device */
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_qp *qp;
static uint32_t rcv_qpn;
static uint16_t lid;
static unsigned char buffer[2 * BYTES];	/* sent, received */

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	printf("exchange: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Verbs that return a positive errno, or -1 with errno set. */
static void succeed(int ret, const char *what)
{
	if (ret > 0)
		errno = ret;
	must(!ret, what);
}

static void open_side(struct side *side, struct ibv_device *device, int fd)
{
	side->context = verbs->open_device(device);
	must(side->context, "ibv_open_device");
	side->domain = verbs->open_xrc_domain(side->context, fd, O_CREAT);
	must(side->domain, "ibv_open_xrc_domain");
	side->pd = verbs->alloc_pd(side->context);
	must(side->pd, "ibv_alloc_pd");
	side->cq = verbs->create_cq(side->context, 16, NULL, NULL, 0);
	must(side->cq, "ibv_create_cq");
}

static void open_sides(void)
{
	struct ibv_device **list = verbs->get_device_list(NULL);
	FILE *file = tmpfile();
	struct ibv_port_attr port;

	must(list && list[0] && file, "ibv_get_device_list or tmpfile");
	open_side(&creator, list[0], fileno(file));
	open_side(&registrant, list[0], fileno(file));
	verbs->free_device_list(list);
	fclose(file);
	succeed(verbs->query_port(creator.context, 1, &port), "ibv_query_port");
	lid = port.lid;
}

static void create_objects(void)
{
	struct ibv_srq_init_attr srq_attr;
	struct ibv_qp_init_attr attr;

	mr = verbs->reg_mr(creator.pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
	must(mr, "ibv_reg_mr");
	memset(&srq_attr, 0, sizeof(srq_attr));
	srq_attr.attr.max_wr = 4;
	srq_attr.attr.max_sge = 1;
	srq = verbs->create_xrc_srq(creator.pd, creator.domain, creator.cq, &srq_attr);
	must(srq && srq->xrc_srq_num, "ibv_create_xrc_srq");
	memset(&attr, 0, sizeof(attr));
	attr.xrc_domain = creator.domain;
	succeed(verbs->create_xrc_rcv_qp(&attr, &rcv_qpn), "ibv_create_xrc_rcv_qp");
	attr.send_cq = attr.recv_cq = creator.cq;
	attr.cap.max_send_wr = 4;
	attr.cap.max_send_sge = 1;
	attr.qp_type = IBV_QPT_XRC;
	qp = verbs->create_qp(creator.pd, &attr);
	must(qp, "ibv_create_qp");
}

static struct ibv_qp_attr attr_to(enum ibv_qp_state state, uint32_t dest_qp_num)
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
	attr.ah_attr.dlid = lid;
	attr.ah_attr.port_num = 1;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	return attr;
}

/* With the masks of RC, as old programs pass them. */
static void connect_qps(void)
{
	static const struct {
		enum ibv_qp_state state;
		int mask;
	} steps[] = { { IBV_QPS_INIT, MASK_INIT },
		      { IBV_QPS_RTR, MASK_RTR },
		      { IBV_QPS_RTS, MASK_RTS } };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct ibv_qp_attr rcv_qp_attr = attr_to(steps[i].state, qp->qp_num);
		struct ibv_qp_attr qp_attr = attr_to(steps[i].state, rcv_qpn);

		if (steps[i].state != IBV_QPS_RTS)
			succeed(verbs->modify_xrc_rcv_qp(creator.domain, rcv_qpn, &rcv_qp_attr,
							 steps[i].mask),
				"ibv_modify_xrc_rcv_qp");
		succeed(verbs->modify_qp(qp, &qp_attr, steps[i].mask), "ibv_modify_qp");
	}
}

static void move_registration(void)
{
	succeed(verbs->reg_xrc_rcv_qp(registrant.domain, rcv_qpn), "ibv_reg_xrc_rcv_qp");
	succeed(verbs->unreg_xrc_rcv_qp(creator.domain, rcv_qpn), "ibv_unreg_xrc_rcv_qp");
}

static void query_qps(void)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	succeed(verbs->query_qp(qp, &attr, IBV_QP_STATE, &init_attr), "ibv_query_qp");
	errno = 0;
	must(attr.qp_state == IBV_QPS_RTS && init_attr.qp_type == IBV_QPT_XRC &&
		     init_attr.xrc_domain == creator.domain,
	     "ibv_query_qp gives another state, type or domain");
	succeed(verbs->query_xrc_rcv_qp(registrant.domain, rcv_qpn, &attr, IBV_QP_STATE,
					&init_attr),
		"ibv_query_xrc_rcv_qp");
	must(attr.qp_state == IBV_QPS_RTR, "ibv_query_xrc_rcv_qp gives another state than RTR");
}

static void post(void)
{
	struct ibv_send_wr send, *bad_send;
	struct ibv_recv_wr recv, *bad_recv;
	struct ibv_sge from, to;

	memset(&send, 0, sizeof(send));
	memset(&recv, 0, sizeof(recv));
	from.addr = (uintptr_t)buffer;
	to.addr = from.addr + BYTES;
	from.length = to.length = BYTES;
	from.lkey = to.lkey = mr->lkey;
	recv.sg_list = &to;
	send.sg_list = &from;
	send.num_sge = recv.num_sge = 1;
	send.wr_id = SEND_ID;
	recv.wr_id = RECV_ID;
	send.opcode = IBV_WR_SEND_WITH_IMM;
	send.send_flags = IBV_SEND_SIGNALED;
	send.imm_data = IMM;
	send.xrc_remote_srq_num = srq->xrc_srq_num;
	for (size_t i = 0; i < BYTES; i++)
		buffer[i] = (unsigned char)(i * 7 + 1);
	memset(buffer + BYTES, 0, BYTES);
	succeed(ibv_post_srq_recv(srq, &recv, &bad_recv), "ibv_post_srq_recv");
	succeed(ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
}

/* Both completions come in this one CQ. */
static void poll_completions(void)
{
	struct ibv_wc wc;
	uint64_t seen = 0;

	errno = 0;
	/* Each turn without a completion takes 200 us or more. */
	for (int turns = 0; seen != (SEND_ID | RECV_ID) && turns < TIMEOUT_US / 200; turns++) {
		int got = ibv_poll_cq(creator.cq, 1, &wc);

		if (!got) {
			usleep(200);
			continue;
		}
		must(got == 1 && wc.status == IBV_WC_SUCCESS, "a work request failed");
		must(wc.wr_id != RECV_ID || (wc.byte_len == BYTES && wc.imm_data == IMM),
		     "the receive completion has another length or imm_data");
		seen |= wc.wr_id;
	}
	must(seen == (SEND_ID | RECV_ID), "a completion is missing");
	must(!memcmp(buffer, buffer + BYTES, BYTES), "the payload differs");
}

static void close_side(struct side *side)
{
	succeed(verbs->close_xrc_domain(side->domain), "ibv_close_xrc_domain");
	succeed(verbs->destroy_cq(side->cq), "ibv_destroy_cq");
	succeed(verbs->dealloc_pd(side->pd), "ibv_dealloc_pd");
	succeed(verbs->close_device(side->context), "ibv_close_device");
}

static void destroy_objects(void)
{
	succeed(verbs->unreg_xrc_rcv_qp(registrant.domain, rcv_qpn),
		"the last ibv_unreg_xrc_rcv_qp");
	succeed(verbs->destroy_qp(qp), "ibv_destroy_qp");
	succeed(verbs->destroy_srq(srq), "ibv_destroy_srq");
	succeed(verbs->dereg_mr(mr), "ibv_dereg_mr");
}

void exchange(const struct verbs *table)
{
	verbs = table;
	open_sides();
	create_objects();
	connect_qps();
	move_registration();
	query_qps();
	post();
	poll_completions();
	destroy_objects();
	close_side(&registrant);
	close_side(&creator);
	printf("exchange: done\n");
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
