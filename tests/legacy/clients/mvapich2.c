/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What MVAPICH2 does with MV2_USE_XRC. Every rank unlinks the domain's file while it is in use;
 * there is one SRQ, and one sending QP for each remote host; the shutdown tries to destroy the CQ
 * before the SRQ. Built twice: linked with libibverbs, and looking it up by dlopen(), as 2.3.5 and
 * later do.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mvapich2.h"

#define BUFFERS 128

struct hca hca;

static struct ibv_srq *srq_hndl;
static struct ibv_comp_channel *channel;
static struct ibv_mr *mr;
static pthread_t async_thread;
static int blocking, xrc_fd;

/* ---- Start ---- */

static void open_hca(void)
{
	hca.context = hca_open_device();
	hca_check_xrc(hca.context);
	hca.lid = hca_lid(hca.context);
	hca.pd = must(VERB(alloc_pd)(hca.context), "ibv_alloc_pd");
	if (blocking)
		channel = must(VERB(create_comp_channel)(hca.context), "ibv_create_comp_channel");
	hca.cq_hndl = must(VERB(create_cq)(hca.context, 1024, NULL, channel, 0), "ibv_create_cq");
}

static void open_domain(char *file, size_t size)
{
	snprintf(file, size, "%s/mv2_xrc_kvs_%c_%u-0", job.dir, 'A' + job.host, (unsigned)getuid());
	xrc_fd = open(file, O_RDWR | O_CREAT, 0600);
	if (xrc_fd < 0)
		job_die("%s: %s", file, strerror(errno));
	hca.xrc_domain = must(VERB(open_xrc_domain)(hca.context, xrc_fd, O_CREAT), "xrc_domain");
}

/* A build with XRC also reads the number of ordinary SRQs, and does not use it. */
static void read_plain_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *plain = must(VERB(create_srq)(hca.pd, &attr), "ibv_create_srq");

	hca.srqn = *(volatile uint32_t *)&plain->xrc_srq_num;
	must_be_0(VERB(destroy_srq)(plain), "ibv_destroy_srq");
}

static void create_srq(void)
{
	struct ibv_srq_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.srq_context = hca.context;
	attr.attr.max_wr = BUFFERS;
	attr.attr.max_sge = 1;
	attr.attr.srq_limit = 30;	/* "should be ignored" */
	srq_hndl = must(VERB(create_xrc_srq)(hca.pd, hca.xrc_domain, hca.cq_hndl, &attr),
			"ibv_create_xrc_srq");
	hca.srqn = srq_hndl->xrc_srq_num;
	if (!hca.srqn)
		job_die("xrc_srq_num is 0");
}

/* Clears the flag, and sets it again for the ack. */
static void take_event(struct ibv_async_event *event)
{
	int xrc_event = 0;

	if (event->event_type & IBV_XRC_QP_EVENT_FLAG) {
		event->event_type ^= IBV_XRC_QP_EVENT_FLAG;
		xrc_event = 1;
	}
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		job_die("got %sevent %d (%s)", xrc_event ? "XRC " : "", event->event_type,
			VERB(event_type_str)(event->event_type));
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		if (event->element.srq != srq_hndl)
			job_die("limit of an unknown SRQ");
		break;
	default:
		break;
	}
	if (xrc_event)
		event->event_type |= IBV_XRC_QP_EVENT_FLAG;
}

static void *async_main(void *context)
{
	hca_event_loop(context, take_event);
	return NULL;
}

/* ---- Data ---- */

static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	(void)queue;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_SEND && wr->sg_list->length <= 128)
		wr->send_flags |= IBV_SEND_INLINE;
	wr->xrc_remote_srq_num = cm_vc(rank)->remote_srqn;
	return cm_qp(rank);
}

static void take_buffer(unsigned queue, unsigned slot)
{
	data_post_recv(srq_hndl, queue, slot);
}

static void progress(void)
{
	data_progress(hca.cq_hndl, channel);
}

static const struct data data = {
	.messages = 60, .queues = 1, .size = 2048, .short_size = 64, .gets = 1,
	.ready = cm_connect, .prepare = prepare, .take_buffer = take_buffer, .progress = progress,
};

static void start(void)
{
	struct ibv_srq_attr limit = { .max_wr = BUFFERS, .max_sge = 1, .srq_limit = 30 };
	char file[128];
	unsigned slot;

	verbs_open();
	open_hca();
	open_domain(file, sizeof(file));
	read_plain_srq();
	create_srq();
	must_be_0(pthread_create(&async_thread, NULL, async_main, hca.context), "pthread_create");
	mr = must(VERB(reg_mr)(hca.pd, &data_memory, sizeof(data_memory),
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ),
		  "ibv_reg_mr");
	data_start(&data, mr->lkey, mr->rkey);
	for (slot = 0; slot < BUFFERS; slot++)
		take_buffer(0, slot);
	if (channel)
		must_be_0(ibv_req_notify_cq(hca.cq_hndl, 0), "ibv_req_notify_cq");
	must_be_0(VERB(modify_srq)(srq_hndl, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
	cm_start();
	/* No rank needs the name any more. Every rank unlinks it, and one of them succeeds. */
	job_barrier(JOB_WORLD);
	if (unlink(file) && errno != ENOENT)
		job_die("unlink: %s", strerror(errno));
}

/* ---- End ---- */

static int finish(void)
{
	int err;

	job_barrier(JOB_WORLD);
	cm_stop();
	cm_finalize();
	err = VERB(destroy_cq)(hca.cq_hndl);
	if (err != EBUSY)
		job_die("ibv_destroy_cq with the SRQ still on it returned %d", err);
	job_cancel_thread(async_thread);
	must_be_0(VERB(destroy_srq)(srq_hndl), "ibv_destroy_srq");
	must_be_0(VERB(close_xrc_domain)(hca.xrc_domain), "ibv_close_xrc_domain");
	must_be_0(close(xrc_fd), "close");
	must_be_0(VERB(dereg_mr)(mr), "ibv_dereg_mr");
	must_be_0(VERB(dealloc_pd)(hca.pd), "ibv_dealloc_pd");
	must_be_0(VERB(close_device)(hca.context), "ibv_close_device");
	return 0;
}

static int rank_main(void)
{
	start();
	data_exchange();
	return finish();
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", NULL };

	job_options(argc, argv, flags);
	blocking = job_option(argc, argv, "--event");
#ifdef IBV_DLOPEN
	return job_run("mvapich2-dlopen", 2, rank_main);
#else
	return job_run("mvapich2", 2, rank_main);
#endif
}
