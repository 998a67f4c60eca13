/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Creates, connects, uses and destroys one side of a connection. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "side.h"
#include <harness/row.h>

#define TIMEOUT_MS 20000

static struct ibv_context *open_device(int device)
{
	struct ibv_context *context;
	struct ibv_device **list;
	int count = 0;

	list = ibv_get_device_list(&count);
	must(list && device < count);
	context = ibv_open_device(list[device]);
	must(context);
	ibv_free_device_list(list);
	return context;
}

void side_create_srq(struct side *side)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = SIDE_DEPTH, .max_sge = 1 } };

	side->srq = ibv_create_xrc_srq(side->pd, side->domain, side->cq, &attr);
	must(side->srq);
	side->own.srq_num = side->srq->xrc_srq_num;
	must(side->own.srq_num);
}

static void register_memory(struct side *side)
{
	side->memory = aligned_alloc(4096, SIDE_MEMORY);
	must(side->memory);
	memset(side->memory, 0, SIDE_MEMORY);
	side->mr = ibv_reg_mr(side->pd, side->memory, SIDE_MEMORY, SIDE_ACCESS);
	must(side->mr);
	side->own.rkey = side->mr->rkey;
	side->own.memory = (uintptr_t)side->memory;
}

void side_use(struct side *side, struct ibv_context *context, int fd, bool event_mode)
{
	struct ibv_port_attr port;

	*side = (struct side){ .context = context, .event_mode = event_mode, .own.psn = SIDE_PSN };
	must_eq(ibv_query_port(side->context, 1, &port), 0);
	side->own.lid = port.lid;
	side->pd = ibv_alloc_pd(side->context);
	must(side->pd);
	side->domain = ibv_open_xrc_domain(side->context, fd, O_CREAT);
	must(side->domain);
	must(side->domain->context == side->context);
	if (event_mode) {
		side->channel = ibv_create_comp_channel(side->context);
		must(side->channel);
	}
	side->cq = ibv_create_cq(side->context, 4 * SIDE_DEPTH, NULL, side->channel, 0);
	must(side->cq);
	if (event_mode)
		must_eq(ibv_req_notify_cq(side->cq, 0), 0);
	register_memory(side);
}

void side_open_without_srq(struct side *side, int device, int fd, bool event_mode)
{
	side_use(side, open_device(device), fd, event_mode);
	side->own.psn += (uint32_t)device;
}

void side_open(struct side *side, int device, int fd, bool event_mode)
{
	side_open_without_srq(side, device, fd, event_mode);
	side_create_srq(side);
}

void side_create_qp(struct side *side, uint32_t max_send_wr)
{
	struct ibv_qp_init_attr attr = {
		.qp_context = side,
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = { .max_send_wr = max_send_wr,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = 64 },
		.qp_type = IBV_QPT_XRC,
		.xrc_domain = side->domain,
	};

	side->qp = ibv_create_qp(side->pd, &attr);
	if (!side->qp)
		row_fail(__FILE__, __LINE__, "ibv_create_qp: %s", strerrorname_np(errno));
	side->own.qp_num = side->qp->qp_num;
}

void side_destroy_qp(struct side *side)
{
	if (side->qp)
		must_eq(ibv_destroy_qp(side->qp), 0);
	side->qp = NULL;
}

static void attr_to_rtr(const struct side *side, struct ibv_qp_attr *attr)
{
	attr->path_mtu = IBV_MTU_1024;
	attr->dest_qp_num = side->peer.qp_num;
	attr->rq_psn = side->peer.psn;
	attr->max_dest_rd_atomic = 5;
	attr->min_rnr_timer = 12;
	attr->ah_attr.dlid = (uint16_t)side->peer.lid;
	attr->ah_attr.port_num = 1;
}

static void attr_to_rts(const struct side *side, struct ibv_qp_attr *attr)
{
	attr->timeout = 10;	/* 4 ms */
	attr->retry_cnt = 3;
	attr->rnr_retry = 6;
	attr->sq_psn = side->own.psn;
	attr->max_rd_atomic = 3;
}

struct ibv_qp_attr side_attr(const struct side *side, enum ibv_qp_state state, int *mask)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	*mask = mask_to(state);
	if (state == IBV_QPS_INIT) {
		attr.port_num = 1;
		attr.qp_access_flags = SIDE_ACCESS & ~IBV_ACCESS_LOCAL_WRITE;
	} else if (state == IBV_QPS_RTR) {
		attr_to_rtr(side, &attr);
	} else if (state == IBV_QPS_RTS) {
		attr_to_rts(side, &attr);
	}
	return attr;
}

int side_modify_state(struct side *side, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(side->qp, &attr, IBV_QP_STATE);
}

int side_modify(struct side *side, enum ibv_qp_state state)
{
	int mask;
	struct ibv_qp_attr attr = side_attr(side, state, &mask);

	return ibv_modify_qp(side->qp, &attr, mask);
}

void side_bring(struct side *side, enum ibv_qp_state state)
{
	for (enum ibv_qp_state step = IBV_QPS_INIT; step <= state; step++)
		must_eq(side_modify(side, step), 0);
}

enum ibv_qp_state side_state(struct side *side)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	must_eq(ibv_query_qp(side->qp, &attr, IBV_QP_STATE, &init_attr), 0);
	must_eq(attr.cur_qp_state, attr.qp_state);
	return attr.qp_state;
}

void side_post_recv(struct side *side, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)side->memory + offset, length, side->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	must_eq(ibv_post_srq_recv(side->srq, &wr, &bad), 0);
}

struct ibv_send_wr side_wr(const struct side *side, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
			   uint32_t offset, uint32_t length)
{
	struct ibv_send_wr wr = {
		.wr_id = opcode,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.xrc_remote_srq_num = side->peer.srq_num,
	};

	*sge = (struct ibv_sge){ (uintptr_t)side->memory + offset, length, side->mr->lkey };
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = side->peer.memory + offset;
		wr.wr.atomic.rkey = side->peer.rkey;
	} else {
		wr.wr.rdma.remote_addr = side->peer.memory + offset;
		wr.wr.rdma.rkey = side->peer.rkey;
	}
	return wr;
}

void side_post(struct side *side, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	must_eq(ibv_post_send(side->qp, wr, &bad), 0);
}

void side_send(struct side *side, enum ibv_wr_opcode opcode, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = side_wr(side, &sge, opcode, offset, length);

	side_post(side, &wr);
}

void side_post_wrong_key(struct side *side, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = side_wr(side, &sge, opcode, 0, 64);

	wr.wr.rdma.rkey ^= 0x5500;
	side_post(side, &wr);
}

static void wait_for_completion_event(struct side *side)
{
	struct pollfd pollfd = { .fd = side->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *cq_context;

	must_eq(poll(&pollfd, 1, TIMEOUT_MS), 1);
	must_eq(ibv_get_cq_event(side->channel, &cq, &cq_context), 0);
	must(cq == side->cq);
	ibv_ack_cq_events(cq, 1);
	must_eq(ibv_req_notify_cq(cq, 0), 0);
}

struct ibv_wc side_poll(struct side *side)
{
	double deadline = seconds() + TIMEOUT_MS / 1000.0;
	struct ibv_wc wc;
	int polled;

	while (!(polled = ibv_poll_cq(side->cq, 1, &wc))) {
		must(seconds() < deadline);
		if (side->event_mode)
			wait_for_completion_event(side);
		else
			usleep(100);
	}
	must_eq(polled, 1);
	return wc;
}

void side_no_completion(struct side *side)
{
	struct ibv_wc wc;

	usleep(20000);
	must_eq(ibv_poll_cq(side->cq, 1, &wc), 0);
}

static bool event_there(const struct side *side, int milliseconds)
{
	struct pollfd pollfd = { .fd = side->context->async_fd, .events = POLLIN };

	return poll(&pollfd, 1, milliseconds) == 1;
}

struct ibv_async_event side_event(struct side *side)
{
	struct ibv_async_event event;

	must(event_there(side, TIMEOUT_MS));
	must_eq(ibv_get_async_event(side->context, &event), 0);
	return event;
}

void side_no_event(struct side *side, int milliseconds)
{
	struct ibv_async_event event;
	int flags = fcntl(side->context->async_fd, F_GETFL);

	/*
	 * The descriptor is also readable for an event of a hidden target, which the library
	 * consumes. ibv_get_async_event then fails with EWOULDBLOCK.
	 */
	if (!event_there(side, milliseconds))
		return;
	fcntl(side->context->async_fd, F_SETFL, flags | O_NONBLOCK);
	must_eq(ibv_get_async_event(side->context, &event), -1);
	must_eq(errno, EWOULDBLOCK);
	fcntl(side->context->async_fd, F_SETFL, flags);
}

void side_close(struct side *side)
{
	if (!side->context)
		return;
	side_destroy_qp(side);
	if (side->srq)
		must_eq(ibv_destroy_srq(side->srq), 0);
	must_eq(ibv_close_xrc_domain(side->domain), 0);
	must_eq(ibv_destroy_cq(side->cq), 0);
	if (side->channel)
		must_eq(ibv_destroy_comp_channel(side->channel), 0);
	must_eq(ibv_dereg_mr(side->mr), 0);
	must_eq(ibv_dealloc_pd(side->pd), 0);
	must_eq(ibv_close_device(side->context), 0);
	free(side->memory);
	*side = (struct side){ 0 };
}

pthread_t start_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, arg));
	return thread;
}

void *join_thread(pthread_t thread)
{
	void *result;

	must(!pthread_join(thread, &result));
	return result;
}

int shared_file(void)
{
	char path[] = "/tmp/xrc-qps-XXXXXX";
	int fd = mkstemp(path);

	must(fd >= 0 && !unlink(path));
	return fd;
}
