/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Two devices, connected: an old XRC QP on the one, a receive QP on the other. */

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../rc_masks.h"
#include "rig.h"

#define SIZE 64

struct rig rig;

/* On pages of their own: after ibv_fork_init a forked child lacks registered pages. */
static char *memory, *received;

static struct ibv_context *open_device(int number)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	must(list && list[0] && list[1]);
	context = ibv_open_device(list[number]);
	must(context);
	ibv_free_device_list(list);
	return context;
}

static uint16_t lid_of(struct ibv_context *context)
{
	struct ibv_port_attr port;

	must_eq(ibv_query_port(context, 1, &port), 0);
	return port.lid;
}

/* Both opened devices of the receiving side share a domain, if they are two. */
static void open_domains(void)
{
	FILE *file = tmpfile();

	must(file);
	rig.send_domain = ibv_open_xrc_domain(rig.sender, -1, O_CREAT);
	rig.made = ibv_open_xrc_domain(rig.maker, fileno(file), O_CREAT);
	rig.domain = rig.owner == OWN ? rig.made
				      : ibv_open_xrc_domain(rig.receiver, fileno(file), 0);
	must(rig.send_domain && rig.made && rig.domain);
	fclose(file);
}

static void create_qps(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_XRC,
					 .send_cq = rig.send_cq,
					 .recv_cq = rig.send_cq };
	struct ibv_qp_init_attr rcv_attr = { .xrc_domain = rig.made };

	attr.xrc_domain = rig.send_domain;
	attr.cap.max_send_wr = 4;
	attr.cap.max_send_sge = 1;
	attr.sq_sig_all = 1;
	rig.qp = ibv_create_qp(rig.send_pd, &attr);
	must(rig.qp);
	must_eq(ibv_create_xrc_rcv_qp(&rcv_attr, &rig.rcv_qpn), 0);
}

static void modify_both(struct ibv_qp_attr *attr, int mask, uint32_t send_to, uint32_t receive_from)
{
	attr->dest_qp_num = send_to;
	attr->ah_attr.dlid = lid_of(rig.maker);
	must_eq(ibv_modify_qp(rig.qp, attr, mask), 0);
	attr->dest_qp_num = receive_from;
	attr->ah_attr.dlid = lid_of(rig.sender);
	must_eq(ibv_modify_xrc_rcv_qp(rig.made, rig.rcv_qpn, attr, mask), 0);
}

static void connect_qps(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .port_num = 1,
				    .timeout = 14,
				    .retry_cnt = 7,
				    .rnr_retry = 7 };

	attr.path_mtu = IBV_MTU_1024;
	attr.min_rnr_timer = 12;
	attr.ah_attr.port_num = 1;
	modify_both(&attr, MASK_INIT, 0, 0);
	attr.qp_state = IBV_QPS_RTR;
	modify_both(&attr, MASK_RTR, rig.rcv_qpn, rig.qp->qp_num);
	attr.qp_state = IBV_QPS_RTS;
	must_eq(ibv_modify_qp(rig.qp, &attr, MASK_RTS), 0);
}

static void *pages(void)
{
	void *found = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(found != MAP_FAILED);
	return found;
}

void rig_open(void)
{
	rig.sender = open_device(0);
	rig.maker = open_device(1);
	rig.receiver = rig.owner == OWN ? rig.maker : open_device(1);
	open_domains();
	rig.send_pd = ibv_alloc_pd(rig.sender);
	rig.pd = ibv_alloc_pd(rig.receiver);
	rig.send_cq = ibv_create_cq(rig.sender, 8, NULL, NULL, 0);
	must(rig.send_pd && rig.pd && rig.send_cq);
	memory = pages();
	received = pages();
	rig.send_mr = ibv_reg_mr(rig.send_pd, memory, SIZE, IBV_ACCESS_LOCAL_WRITE);
	rig.mr = ibv_reg_mr(rig.pd, received, SIZE, IBV_ACCESS_LOCAL_WRITE);
	must(rig.send_mr && rig.mr);
	create_qps();
	connect_qps();
}

struct ibv_comp_channel *rig_channel(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(rig.receiver);

	must(channel && channel->fd >= 0);
	return channel;
}

struct ibv_cq *rig_cq(struct ibv_comp_channel *channel, void *cq_context)
{
	struct ibv_cq *cq = ibv_create_cq(rig.receiver, 16, cq_context, channel, 0);

	must(cq && cq->channel == channel && cq->cq_context == cq_context);
	return cq;
}

struct ibv_srq *rig_srq(struct ibv_cq *cq)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = RECEIVES, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_xrc_srq(rig.pd, rig.domain, cq, &attr);
	struct ibv_sge sge = { (uintptr_t)received, SIZE, rig.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	must(srq && srq->xrc_cq == cq);
	for (int i = 0; i < RECEIVES; i++)
		must_eq(ibv_post_srq_recv(srq, &wr, &bad), 0);
	return srq;
}

static void take_completion(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int polled = 0;

	/* Each turn takes a millisecond or more. */
	for (int ms = 0; !(polled = ibv_poll_cq(cq, 1, &wc)) && ms < PATIENCE_MS; ms++)
		usleep(1000);
	must_eq(polled, 1);
	must_eq(wc.status, IBV_WC_SUCCESS);
}

void rig_send(const struct ibv_srq *srq, int flags)
{
	struct ibv_sge sge = { (uintptr_t)memory, SIZE, rig.send_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	wr.send_flags = flags;
	wr.xrc_remote_srq_num = srq->xrc_srq_num;
	must_eq(ibv_post_send(rig.qp, &wr, &bad), 0);
	take_completion(rig.send_cq);
}

void rig_arrived(struct ibv_cq *cq)
{
	take_completion(cq);
}

void rig_arm(struct ibv_cq *cq, int solicited_only)
{
	must_eq(ibv_req_notify_cq(cq, solicited_only), 0);
}

bool rig_readable(const struct ibv_comp_channel *channel, int milliseconds)
{
	struct pollfd pollfd = { .fd = channel->fd, .events = POLLIN };

	return poll(&pollfd, 1, milliseconds) == 1 && pollfd.revents == POLLIN;
}

void rig_event(struct ibv_comp_channel *channel, const struct ibv_cq *cq)
{
	struct ibv_cq *got = NULL;
	void *context = NULL;

	must(rig_readable(channel, PATIENCE_MS));
	must_eq(ibv_get_cq_event(channel, &got, &context), 0);
	must(got == cq && context == cq->cq_context);
}

void rig_non_blocking(const struct ibv_comp_channel *channel)
{
	must_eq(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK), 0);
}

void rig_no_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	rig_non_blocking(channel);
	errno = 0;
	must_eq(ibv_get_cq_event(channel, &cq, &context), -1);
	must_eq(errno, EAGAIN);
}

void rig_one(struct one *one)
{
	one->channel = rig_channel();
	one->cq = rig_cq(one->channel, one);
	one->srq = rig_srq(one->cq);
}

void rig_end_one(struct one *one)
{
	must_eq(ibv_destroy_srq(one->srq), 0);
	must_eq(ibv_destroy_cq(one->cq), 0);
	must_eq(ibv_destroy_comp_channel(one->channel), 0);
}
