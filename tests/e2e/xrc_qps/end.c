/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Creates, connects, uses and destroys one end of a two-way connection. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../emulated.h"
#include "end.h"
#include "../row.h"

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

void end_create_srq(struct end *end)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = END_DEPTH, .max_sge = 1 } };

	end->srq = ibv_create_xrc_srq(end->pd, end->domain, end->cq, &attr);
	must(end->srq);
	end->own.srq_num = end->srq->xrc_srq_num;
	must(end->own.srq_num);
}

static void register_memory(struct end *end)
{
	end->memory = aligned_alloc(4096, END_MEMORY);
	must(end->memory);
	memset(end->memory, 0, END_MEMORY);
	end->mr = ibv_reg_mr(end->pd, end->memory, END_MEMORY, END_ACCESS);
	must(end->mr);
	end->own.rkey = end->mr->rkey;
	end->own.memory = (uintptr_t)end->memory;
}

void end_use(struct end *end, struct ibv_context *context, int fd, bool event_mode)
{
	struct ibv_port_attr port;

	*end = (struct end){ .context = context, .event_mode = event_mode, .own.psn = END_PSN };
	must_eq(ibv_query_port(end->context, 1, &port), 0);
	end->own.lid = port.lid;
	end->pd = ibv_alloc_pd(end->context);
	must(end->pd);
	end->domain = ibv_open_xrc_domain(end->context, fd, O_CREAT);
	must(end->domain);
	must(end->domain->context == end->context);
	if (event_mode) {
		end->channel = ibv_create_comp_channel(end->context);
		must(end->channel);
	}
	end->cq = ibv_create_cq(end->context, 4 * END_DEPTH, NULL, end->channel, 0);
	must(end->cq);
	if (event_mode)
		must_eq(ibv_req_notify_cq(end->cq, 0), 0);
	register_memory(end);
}

void end_open_without_srq(struct end *end, int device, int fd, bool event_mode)
{
	end_use(end, open_device(device), fd, event_mode);
	end->own.psn += (uint32_t)device;
}

void end_open(struct end *end, int device, int fd, bool event_mode)
{
	end_open_without_srq(end, device, fd, event_mode);
	end_create_srq(end);
}

void end_create_qp(struct end *end, uint32_t max_send_wr)
{
	struct ibv_qp_init_attr attr = {
		.qp_context = end,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = { .max_send_wr = max_send_wr,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = 64 },
		.qp_type = IBV_QPT_XRC,
		.xrc_domain = end->domain,
	};

	end->qp = ibv_create_qp(end->pd, &attr);
	if (!end->qp)
		row_fail(__FILE__, __LINE__, "ibv_create_qp: %s", strerrorname_np(errno));
	end->own.qp_num = end->qp->qp_num;
}

void end_destroy_qp(struct end *end)
{
	if (end->qp)
		must_eq(ibv_destroy_qp(end->qp), 0);
	end->qp = NULL;
}

static void attr_to_rtr(const struct end *end, struct ibv_qp_attr *attr)
{
	attr->path_mtu = IBV_MTU_1024;
	attr->dest_qp_num = end->peer.qp_num;
	attr->rq_psn = end->peer.psn;
	attr->max_dest_rd_atomic = 5;
	attr->min_rnr_timer = 12;
	attr->ah_attr.dlid = (uint16_t)end->peer.lid;
	attr->ah_attr.port_num = 1;
}

static void attr_to_rts(const struct end *end, struct ibv_qp_attr *attr)
{
	attr->timeout = 10;	/* 4 ms */
	attr->retry_cnt = 3;
	attr->rnr_retry = 6;
	attr->sq_psn = end->own.psn;
	attr->max_rd_atomic = 3;
}

struct ibv_qp_attr end_attr(const struct end *end, enum ibv_qp_state state, int *mask)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	*mask = IBV_QP_STATE;
	if (state == IBV_QPS_INIT) {
		attr.port_num = 1;
		attr.qp_access_flags = END_ACCESS & ~IBV_ACCESS_LOCAL_WRITE;
		*mask = MASK_INIT;
	} else if (state == IBV_QPS_RTR) {
		attr_to_rtr(end, &attr);
		*mask = MASK_RTR;
	} else if (state == IBV_QPS_RTS) {
		attr_to_rts(end, &attr);
		*mask = MASK_RTS;
	}
	return attr;
}

int end_modify_state(struct end *end, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}

int end_modify(struct end *end, enum ibv_qp_state state)
{
	int mask;
	struct ibv_qp_attr attr = end_attr(end, state, &mask);

	return ibv_modify_qp(end->qp, &attr, mask);
}

void end_bring(struct end *end, enum ibv_qp_state state)
{
	for (enum ibv_qp_state step = IBV_QPS_INIT; step <= state; step++)
		must_eq(end_modify(end, step), 0);
}

enum ibv_qp_state end_state(struct end *end)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	must_eq(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init_attr), 0);
	must_eq(attr.cur_qp_state, attr.qp_state);
	return attr.qp_state;
}

void end_post_recv(struct end *end, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)end->memory + offset, length, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	must_eq(ibv_post_srq_recv(end->srq, &wr, &bad), 0);
}

struct ibv_send_wr end_wr(const struct end *end, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
			  uint32_t offset, uint32_t length)
{
	struct ibv_send_wr wr = {
		.wr_id = opcode,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.xrc_remote_srq_num = end->peer.srq_num,
	};

	*sge = (struct ibv_sge){ (uintptr_t)end->memory + offset, length, end->mr->lkey };
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = end->peer.memory + offset;
		wr.wr.atomic.rkey = end->peer.rkey;
	} else {
		wr.wr.rdma.remote_addr = end->peer.memory + offset;
		wr.wr.rdma.rkey = end->peer.rkey;
	}
	return wr;
}

void end_post(struct end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	must_eq(ibv_post_send(end->qp, wr, &bad), 0);
}

void end_send(struct end *end, enum ibv_wr_opcode opcode, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = end_wr(end, &sge, opcode, offset, length);

	end_post(end, &wr);
}

static void wait_for_completion_event(struct end *end)
{
	struct pollfd pollfd = { .fd = end->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *cq_context;

	must_eq(poll(&pollfd, 1, TIMEOUT_MS), 1);
	must_eq(ibv_get_cq_event(end->channel, &cq, &cq_context), 0);
	must(cq == end->cq);
	ibv_ack_cq_events(cq, 1);
	must_eq(ibv_req_notify_cq(cq, 0), 0);
}

void end_post_wrong_key(struct end *end, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = end_wr(end, &sge, opcode, 0, 64);

	wr.wr.rdma.rkey ^= 0x5500;
	end_post(end, &wr);
}

struct ibv_wc end_poll(struct end *end)
{
	double deadline = seconds() + TIMEOUT_MS / 1000.0;
	struct ibv_wc wc;
	int polled;

	while (!(polled = ibv_poll_cq(end->cq, 1, &wc))) {
		must(seconds() < deadline);
		if (end->event_mode)
			wait_for_completion_event(end);
		else
			usleep(100);
	}
	must_eq(polled, 1);
	return wc;
}

void end_no_completion(struct end *end)
{
	struct ibv_wc wc;

	usleep(20000);
	must_eq(ibv_poll_cq(end->cq, 1, &wc), 0);
}

static bool event_there(const struct end *end, int milliseconds)
{
	struct pollfd pollfd = { .fd = end->context->async_fd, .events = POLLIN };

	return poll(&pollfd, 1, milliseconds) == 1;
}

struct ibv_async_event end_event(struct end *end)
{
	struct ibv_async_event event;

	must(event_there(end, TIMEOUT_MS));
	must_eq(ibv_get_async_event(end->context, &event), 0);
	return event;
}

void end_no_event(struct end *end, int milliseconds)
{
	struct ibv_async_event event;
	int flags = fcntl(end->context->async_fd, F_GETFL);

	/*
	 * The descriptor is also readable for an event of a hidden target, which the library
	 * consumes. ibv_get_async_event then fails with EWOULDBLOCK.
	 */
	if (!event_there(end, milliseconds))
		return;
	fcntl(end->context->async_fd, F_SETFL, flags | O_NONBLOCK);
	must_eq(ibv_get_async_event(end->context, &event), -1);
	must_eq(errno, EWOULDBLOCK);
	fcntl(end->context->async_fd, F_SETFL, flags);
}

void end_close(struct end *end)
{
	if (!end->context)
		return;
	end_destroy_qp(end);
	if (end->srq)
		must_eq(ibv_destroy_srq(end->srq), 0);
	must_eq(ibv_close_xrc_domain(end->domain), 0);
	must_eq(ibv_destroy_cq(end->cq), 0);
	if (end->channel)
		must_eq(ibv_destroy_comp_channel(end->channel), 0);
	must_eq(ibv_dereg_mr(end->mr), 0);
	must_eq(ibv_dealloc_pd(end->pd), 0);
	must_eq(ibv_close_device(end->context), 0);
	free(end->memory);
	*end = (struct end){ 0 };
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

static void run_softhca(const char *const words[])
{
	const char *softhca = getenv("SOFTHCA_TEST_COMMAND");
	const char *directory = getenv("SOFTHCA_DIR");
	const char *options = getenv("ASAN_OPTIONS");
	char home[256], sanitizer[256];
	/*
	 * softhca runs without this program's preloads. A sanitizer in softhca still needs its
	 * options.
	 */
	char *const environment[] = { home, sanitizer, NULL };
	int status;
	pid_t pid;

	must(softhca && directory);
	snprintf(home, sizeof(home), "SOFTHCA_DIR=%s", directory);
	snprintf(sanitizer, sizeof(sanitizer), "ASAN_OPTIONS=%s", options ? options : "");
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		execve(softhca, (char *const *)words, environment);
		_exit(127);
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	must_eq(status, 0);
}

void softhca_ctl(const char *what, int device, ...)
{
	struct emulated_name name = emulated_name(device);
	const char *words[10] = { "softhca", "ctl", what, name.text };
	va_list args;

	va_start(args, device);
	for (int i = 4; i < 9 && (words[i] = va_arg(args, const char *)); i++)
		;
	va_end(args);
	run_softhca(words);
}

void inject_event(int device, const char *event, uint32_t number)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	softhca_ctl("event", device, event, digits, NULL);
}

uint32_t hidden_target_number(uint32_t qp_num)
{
	/* The emulated adapter numbers the target right after its initiator. */
	return (qp_num + 1) | emulated_target_tag();
}
