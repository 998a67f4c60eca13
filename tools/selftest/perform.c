/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What an actor does: device, domain, SRQ, messages and events. */
#include "actor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CQ_ENTRIES 32
#define COMPLETION_SECONDS 10
#define EVENT_MS 3000

struct holdings mine;

bool perform_failed(struct answer *answer, const char *verb, int err)
{
	answer->err = err;
	if (err)
		snprintf(answer->text, sizeof(answer->text), "%s", verb);
	return err;
}

/* Verbs that return NULL set errno. A verb that does not must still count as failed. */
static bool failed_null(struct answer *answer, const char *verb, const void *result)
{
	return perform_failed(answer, verb, result ? 0 : errno ? errno : EPROTO);
}

/* ---- device ---- */

static bool has_xrc(struct ibv_context *context)
{
	struct ibv_device_attr attr;

	return !ibv_query_device(context, &attr) && attr.device_cap_flags & IBV_DEVICE_XRC;
}

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	errno = ENODEV;
	for (int i = 0; list && list[i] && !context; i++) {
		if (name[0] && strcmp(name, ibv_get_device_name(list[i])))
			continue;
		context = ibv_open_device(list[i]);
		if (context && !has_xrc(context)) {
			ibv_close_device(context);
			context = NULL;
			errno = ENODEV; /* no device of the wanted kind */
		}
	}
	if (list)
		ibv_free_device_list(list);
	return context;
}

static int find_port(void)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;

	if (ibv_query_device(mine.context, &device))
		return EIO;
	for (uint8_t i = 1; i <= device.phys_port_cnt; i++) {
		if (ibv_query_port(mine.context, i, &port) || port.state != IBV_PORT_ACTIVE)
			continue;
		mine.port = i;
		mine.self.lid = port.lid;
		mine.self.mtu = (uint16_t)port.active_mtu;
		return ibv_query_gid(mine.context, i, 0, &mine.self.gid) ? EIO : 0;
	}
	return ENETDOWN;
}

static void open_device(const struct request *request, struct answer *answer)
{
	size_t size = (SLOTS + 1) * SLOT_SIZE;

	/*
	 * Set before the first verb. This program imports the receive-QP functions, so the library
	 * would take it for one-way.
	 */
	setenv("XRC_COMPAT_TWO_WAY", request->flags ? "on" : "off", 1);
	mine.context = open_named(request->text);
	if (failed_null(answer, "ibv_open_device", mine.context) ||
	    perform_failed(answer, "no active port", find_port()))
		return;
	mine.pd = ibv_alloc_pd(mine.context);
	if (failed_null(answer, "ibv_alloc_pd", mine.pd))
		return;
	mine.cq = ibv_create_cq(mine.context, CQ_ENTRIES, NULL, NULL, 0);
	if (failed_null(answer, "ibv_create_cq", mine.cq))
		return;
	mine.memory = aligned_alloc(SLOT_SIZE, size);
	if (failed_null(answer, "memory", mine.memory))
		return;
	mine.mr = ibv_reg_mr(mine.pd, mine.memory, size, IBV_ACCESS_LOCAL_WRITE);
	if (failed_null(answer, "ibv_reg_mr", mine.mr))
		return;
	snprintf(answer->text, sizeof(answer->text), "%s",
		 ibv_get_device_name(mine.context->device));
}

static void close_device(struct answer *answer)
{
	if (perform_failed(answer, "ibv_dereg_mr", ibv_dereg_mr(mine.mr)) ||
	    perform_failed(answer, "ibv_destroy_cq", ibv_destroy_cq(mine.cq)) ||
	    perform_failed(answer, "ibv_dealloc_pd", ibv_dealloc_pd(mine.pd)))
		return;
	perform_failed(answer, "ibv_close_device", ibv_close_device(mine.context));
}

/* ---- domain ---- */

static void open_domain(const struct request *request, struct answer *answer)
{
	struct ibv_xrc_domain *domain;
	int fd = -1;

	if (!strcmp(request->text, "-")) {
		fd = dup(STDIN_FILENO);
		close(fd);
	} else if (request->text[0]) {
		fd = open(request->text, O_RDONLY | O_CLOEXEC);
		if (perform_failed(answer, "open", fd < 0 ? errno : 0))
			return;
	}
	errno = 0;
	domain = ibv_open_xrc_domain(mine.context, fd, request->flags);
	if (!failed_null(answer, "ibv_open_xrc_domain", domain))
		mine.domain = domain;
	/* The domain holds the inode, not the descriptor. */
	if (request->text[0] == '/')
		close(fd);
}

static void close_domain(struct answer *answer)
{
	if (!perform_failed(answer, "ibv_close_xrc_domain", ibv_close_xrc_domain(mine.domain)))
		mine.domain = NULL;
}

/* ---- SRQ ---- */

int post_slot(uint64_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mine.memory + slot * SLOT_SIZE,
		.length = SLOT_SIZE,
		.lkey = mine.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_srq_recv(mine.srq, &wr, &bad);
}

static void create_srq(struct answer *answer)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = SLOTS, .max_sge = 1 } };

	errno = 0;
	mine.srq = ibv_create_xrc_srq(mine.pd, mine.domain, mine.cq, &attr);
	if (failed_null(answer, "ibv_create_xrc_srq", mine.srq))
		return;
	for (uint64_t slot = 0; slot < SLOTS; slot++) {
		if (perform_failed(answer, "ibv_post_srq_recv", post_slot(slot)))
			return;
	}
	answer->srq_num = mine.srq->xrc_srq_num;
}

/* ---- messages ---- */

static uint8_t pattern(uint32_t seed, uint32_t i)
{
	return (uint8_t)(seed * 131 + i * 7 + (i >> 8));
}

static bool wait_completion(struct ibv_wc *wc, struct answer *answer)
{
	struct timespec moment = { .tv_nsec = 100000 };
	time_t deadline = time(NULL) + COMPLETION_SECONDS;
	int got;

	while (!(got = ibv_poll_cq(mine.cq, 1, wc)) && time(NULL) <= deadline)
		nanosleep(&moment, NULL);
	if (perform_failed(answer, "no completion", got < 0 ? EIO : got ? 0 : ETIMEDOUT))
		return false;
	answer->status = wc->status;
	answer->qp_num = wc->qp_num;
	return true;
}

static void send_message(const struct request *request, struct answer *answer)
{
	uint8_t *data = mine.memory + SLOTS * SLOT_SIZE;
	struct ibv_sge sge = { .addr = (uintptr_t)data,
			       .length = MESSAGE_SIZE,
			       .lkey = mine.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = SLOTS,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.xrc_remote_srq_num = request->srq_num,
	}, *bad;
	struct ibv_wc wc;

	for (uint32_t i = 0; i < MESSAGE_SIZE; i++)
		data[i] = pattern(request->seed, i);
	if (!perform_failed(answer, "ibv_post_send", ibv_post_send(mine.qp, &wr, &bad)))
		wait_completion(&wc, answer);
}

static void receive_message(const struct request *request, struct answer *answer)
{
	struct ibv_wc wc;
	const uint8_t *data;

	if (!wait_completion(&wc, answer) || wc.status != IBV_WC_SUCCESS)
		return;
	if (perform_failed(answer, "the completion is not of a receive",
			   wc.wr_id >= SLOTS || wc.opcode != IBV_WC_RECV ? EPROTO : 0))
		return;
	data = mine.memory + wc.wr_id * SLOT_SIZE;
	for (uint32_t i = 0; i < MESSAGE_SIZE; i++) {
		if (perform_failed(answer, "the data is wrong",
				   wc.byte_len != MESSAGE_SIZE ||
						   data[i] != pattern(request->seed, i)
					   ? EBADMSG
					   : 0))
			return;
	}
	perform_failed(answer, "ibv_post_srq_recv", post_slot(wc.wr_id));
}

/* ---- events ---- */

static void get_event(struct answer *answer)
{
	struct pollfd pollfd = { .fd = mine.context->async_fd, .events = POLLIN };
	struct ibv_async_event event = { 0 };

	if (perform_failed(answer, "no event", poll(&pollfd, 1, EVENT_MS) > 0 ? 0 : ETIMEDOUT) ||
	    perform_failed(answer, "ibv_get_async_event",
			   ibv_get_async_event(mine.context, &event) ? errno : 0))
		return;
	answer->event_type = event.event_type;
	answer->qp_num = event.element.xrc_qp_num;
	ibv_ack_async_event(&event);
}

void perform(const struct request *request, struct answer *answer)
{
	switch (request->op) {
	case OP_OPEN_DEVICE:
		open_device(request, answer);
		break;
	case OP_OPEN_DOMAIN:
		open_domain(request, answer);
		break;
	case OP_CREATE_SRQ:
		create_srq(answer);
		break;
	case OP_SEND:
		send_message(request, answer);
		break;
	case OP_RECEIVE:
		receive_message(request, answer);
		break;
	case OP_GET_EVENT:
		get_event(answer);
		break;
	case OP_DESTROY_SRQ:
		perform_failed(answer, "ibv_destroy_srq", ibv_destroy_srq(mine.srq));
		break;
	case OP_CLOSE_DOMAIN:
		close_domain(answer);
		break;
	case OP_CLOSE_DEVICE:
		close_device(answer);
		break;
	default:
		perform_qp(request, answer);
	}
	answer->self.gid = mine.self.gid;
	answer->self.lid = mine.self.lid;
	answer->self.mtu = mine.self.mtu;
}
