/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Hosts, QPs, XRC objects and requests over the modern API. */
#include "rig.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BIG_RING  65535
#define BIG_RINGS 4 /* 16 MB in all, so that the stack of a thread has room there */
#define ALL_RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

void *rig_made(void *object, const char *what, const char *file, int line)
{
	if (!object)
		row_fail(file, line, "%s: %s", what, strerror(errno));
	return object;
}

struct host *rig_host(int device)
{
	struct host *host = calloc(1, sizeof(*host));
	struct ibv_port_attr port;
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	must(host && list && device < count);
	host->ctx = ibv_open_device(list[device]);
	must(host->ctx);
	ibv_free_device_list(list);
	host->buffer = aligned_alloc(4096, RIG_BUFFER);
	host->pd = ibv_alloc_pd(host->ctx);
	host->channel = ibv_create_comp_channel(host->ctx);
	must(host->buffer && host->pd && host->channel);
	host->cq = ibv_create_cq(host->ctx, 64, NULL, host->channel, 0);
	host->mr = ibv_reg_mr(host->pd, host->buffer, RIG_BUFFER, ALL_RIGHTS);
	must(host->cq && host->mr && !ibv_query_port(host->ctx, 1, &port));
	host->lid = port.lid;
	memset(host->buffer, 0, RIG_BUFFER);
	return host;
}

void rig_free_host(struct host *host)
{
	must_eq(ibv_dereg_mr(host->mr), 0);
	must_eq(ibv_destroy_cq(host->cq), 0);
	must_eq(ibv_destroy_comp_channel(host->channel), 0);
	must_eq(ibv_dealloc_pd(host->pd), 0);
	must_eq(ibv_close_device(host->ctx), 0);
	free(host->buffer);
	free(host);
}

struct ibv_qp *rig_qp(struct host *host, enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = host->cq, .recv_cq = host->cq, .srq = srq, .qp_type = type,
		.pd = host->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.cap = { .max_send_wr = RIG_DEPTH, .max_recv_wr = RIG_DEPTH, .max_send_sge = 4,
			 .max_recv_sge = 4,
			 .max_inline_data = 128 },
	};
	struct ibv_qp *qp;

	if (type == IBV_QPT_XRC_SEND) {
		attr.recv_cq = NULL;
		attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
	}
	qp = ibv_create_qp_ex(host->ctx, &attr);
	must(qp);
	return qp;
}

struct ibv_srq *rig_srq(struct host *host, uint32_t max_wr)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_wr, .max_sge = 1 } };

	return ibv_create_srq(host->pd, &attr);
}

void rig_free_rings(struct host *host)
{
	struct ibv_cq *cqs[BIG_RINGS];

	for (int i = 0; i < BIG_RINGS; i++)
		cqs[i] = MADE(ibv_create_cq(host->ctx, BIG_RING, NULL, NULL, 0));
	for (int i = 0; i < BIG_RINGS; i++)
		must_eq(ibv_destroy_cq(cqs[i]), 0);
}

uint8_t *rig_map(size_t length)
{
	void *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(at != MAP_FAILED);
	return at;
}

bool rig_find_mapping(const char *name, uintptr_t from, struct rig_mapping *found)
{
	FILE *maps = MADE(fopen("/proc/self/maps", "r"));
	bool done = false;
	char line[4096];

	while (!done && fgets(line, sizeof(line), maps)) {
		must_eq(sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNxPTR, &found->begin,
			       &found->end, &found->offset),
			3);
		done = found->end > from && strstr(line, name);
	}
	fclose(maps);
	return done;
}

struct ibv_sge rig_region(struct host *host, uint8_t *at, size_t length)
{
	struct ibv_mr *mr = MADE(ibv_reg_mr(host->pd, at, length, ALL_RIGHTS));

	return (struct ibv_sge){ (uint64_t)(uintptr_t)at, (uint32_t)length, mr->lkey };
}

void rig_use(struct host *host, uint8_t *at, size_t length)
{
	must_eq(ibv_dereg_mr(host->mr), 0);
	host->buffer = at;
	host->mr = MADE(ibv_reg_mr(host->pd, at, length, ALL_RIGHTS));
}

struct rig_link rig_link_to(uint32_t qpn, uint16_t lid)
{
	const struct rig_link link = {
		.dest_qpn = qpn, .psn = RIG_PSN, .dlid = lid, .timeout = 10, .retry_cnt = 3,
		.rnr_retry = 7, .min_rnr_timer = 1,
		.max_dest_rd_atomic = 4, .mtu = IBV_MTU_1024,
		.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			  IBV_ACCESS_REMOTE_ATOMIC,
	};

	return link;
}

int rig_init(struct ibv_qp *qp, const struct rig_link *link)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .port_num = 1,
				    .pkey_index = link->pkey_index,
				    .qp_access_flags = (unsigned int)link->access,
				    .qkey = RIG_QKEY };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	return ibv_modify_qp(qp, &attr,
			     mask | (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY
							       : IBV_QP_ACCESS_FLAGS));
}

int rig_rtr(struct ibv_qp *qp, const struct rig_link *link)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = link->mtu, .dest_qp_num = link->dest_qpn,
		.rq_psn = link->psn,
		.max_dest_rd_atomic = link->max_dest_rd_atomic,
		.min_rnr_timer = link->min_rnr_timer,
		.ah_attr = { .dlid = link->dlid, .port_num = 1 },
	};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

int rig_rts(struct ibv_qp *qp, const struct rig_link *link)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = link->timeout, .retry_cnt = link->retry_cnt,
		.rnr_retry = link->rnr_retry, .sq_psn = link->psn, .max_rd_atomic = 4,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

int rig_bring_up(struct ibv_qp *qp, const struct rig_link *link)
{
	int err = rig_init(qp, link);

	if (!err)
		err = rig_rtr(qp, link);
	return err || qp->qp_type == IBV_QPT_XRC_RECV ? err : rig_rts(qp, link);
}

int rig_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

struct ibv_qp_attr rig_attr(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must_eq(ibv_query_qp(qp, &attr, 0, &init), 0);
	return attr;
}

enum ibv_qp_state rig_state(struct ibv_qp *qp)
{
	return rig_attr(qp).qp_state;
}

void rig_connect(struct host *a, struct ibv_qp *qp_a, struct host *b, struct ibv_qp *qp_b)
{
	const struct rig_link to_b = rig_link_to(qp_b->qp_num, b->lid),
			      to_a = rig_link_to(qp_a->qp_num, a->lid);

	must_eq(rig_bring_up(qp_a, &to_b), 0);
	must_eq(rig_bring_up(qp_b, &to_a), 0);
}

int rig_post_sge(struct ibv_qp *qp, struct ibv_srq *srq, struct ibv_sge sge, uint64_t wr_id)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad);
}

static struct ibv_sge part_of(const struct host *host, size_t offset, uint32_t length)
{
	const struct ibv_sge sge = { (uint64_t)(uintptr_t)host->buffer + offset, length,
				     host->mr->lkey };

	return sge;
}

int rig_post_recv(struct host *host, struct ibv_qp *qp, size_t offset, uint32_t length,
		  uint64_t wr_id)
{
	return rig_post_sge(qp, NULL, part_of(host, offset, length), wr_id);
}

int rig_post_srq(struct host *host, struct ibv_srq *srq, size_t offset, uint32_t length,
		 uint64_t wr_id)
{
	return rig_post_sge(NULL, srq, part_of(host, offset, length), wr_id);
}

struct ibv_send_wr rig_wr(struct host *host, enum ibv_wr_opcode opcode, size_t offset,
			  uint32_t length)
{
	static struct ibv_sge sges[64];
	static unsigned int used;
	struct ibv_sge *sge = &sges[used++ % 64];
	const struct ibv_send_wr wr = { .wr_id = 77,
					.opcode = opcode,
					.send_flags = IBV_SEND_SIGNALED,
					.sg_list = sge,
					.num_sge = 1 };

	*sge = part_of(host, offset, length);
	return wr;
}

int rig_post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, wr, &bad);
}

int rig_poll(struct ibv_cq *cq, struct ibv_wc *wc, int milliseconds)
{
	double end = seconds() + milliseconds / 1e3;
	int got;

	while (!(got = ibv_poll_cq(cq, 1, wc)) && seconds() < end)
		usleep(50);
	return got;
}

bool rig_changes(const uint8_t *byte)
{
	double end = seconds() + RIG_PATIENCE_MS / 1e3;

	while (!__atomic_load_n(byte, __ATOMIC_ACQUIRE) && seconds() < end)
		usleep(50);
	return __atomic_load_n(byte, __ATOMIC_ACQUIRE);
}

bool rig_readable(int fd, int milliseconds)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, milliseconds) == 1;
}

int xrc_file(void)
{
	char path[] = "/tmp/softhca-test-XXXXXX";
	int fd = mkstemp(path);

	must(fd >= 0);
	unlink(path);
	return fd;
}

struct ibv_xrcd *xrc_domain(struct host *host, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = fd,
					   .oflags = oflags };

	return ibv_open_xrcd(host->ctx, &attr);
}

struct ibv_srq *xrc_srq(struct host *host, struct ibv_xrcd *xrcd, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge }, .srq_type = IBV_SRQT_XRC,
		.xrcd = xrcd, .cq = host->cq,
		.pd = host->pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
	};

	return ibv_create_srq_ex(host->ctx, &attr);
}

struct ibv_qp *xrc_target(struct host *host, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd, .comp_mask = IBV_QP_INIT_ATTR_XRCD
	};

	return ibv_create_qp_ex(host->ctx, &attr);
}

struct ibv_qp *xrc_open(struct host *host, struct ibv_xrcd *xrcd, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(host->ctx, &attr);
}

uint32_t xrc_srq_number(struct ibv_srq *srq)
{
	uint32_t number = 0;

	must_eq(ibv_get_srq_num(srq, &number), 0);
	return number;
}
