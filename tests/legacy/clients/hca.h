/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What several clients do with the device of the job's host, its QPs and its queues. */
#ifndef TESTS_LEGACY_CLIENTS_HCA_H
#define TESTS_LEGACY_CLIENTS_HCA_H

#include <errno.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "job.h"

#ifndef VERB	/* mvapich2.h defines it where the program looks the verbs up */
#define VERB(name) ibv_##name
#endif

/* Ends the process if this host has no device. */
static inline struct ibv_context *hca_open_device(void)
{
	struct ibv_context *context;
	struct ibv_device **list;
	int count = 0;

	list = must(VERB(get_device_list)(&count), "ibv_get_device_list");
	if (count <= job.host)
		job_die("%d devices, but one is needed for each host", count);
	context = must(VERB(open_device)(list[job.host]), "ibv_open_device");
	VERB(free_device_list)(list);
	return context;
}

static inline uint32_t hca_lid(struct ibv_context *context)
{
	struct ibv_port_attr port;

	must_be_0(VERB(query_port)(context, 1, &port), "ibv_query_port");
	return port.lid;
}

/* Checks IBV_DEVICE_XRC, as programs of that time did. */
static inline void hca_check_xrc(struct ibv_context *context)
{
	struct ibv_device_attr attr;

	must_be_0(VERB(query_device)(context, &attr), "ibv_query_device");
	if (!(attr.device_cap_flags & IBV_DEVICE_XRC))
		job_die("the device has no XRC");
}

static inline struct ibv_context *hca_open_with_xrc(uint32_t *lid)
{
	struct ibv_context *context = hca_open_device();

	*lid = hca_lid(context);
	hca_check_xrc(context);
	return context;
}

/* Waits for an event of this channel, acknowledges it, arms its CQ again and returns the CQ. */
static inline struct ibv_cq *hca_wait_for_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	job_wait_readable(channel->fd);
	must_be_0(VERB(get_cq_event)(channel, &cq, &context), "ibv_get_cq_event");
	VERB(ack_cq_events)(cq, 1);
	must_be_0(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	return cq;
}

/*
 * For the event threads of MVAPICH and MVAPICH2, which are cancelled asynchronously while they wait
 * in ibv_get_async_event. Theirs could be cancelled anywhere, even with a lock held; that mistake
 * is left out.
 */
static inline void hca_event_loop(struct ibv_context *context,
				  void (*take_event)(struct ibv_async_event *event))
{
	struct ibv_async_event event;
	int state;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	while (!VERB(get_async_event)(context, &event)) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		take_event(&event);
		VERB(ack_async_event)(&event);
		pthread_setcancelstate(state, NULL);
	}
	job_die("ibv_get_async_event: %s", strerror(errno));
}

/* Polls for one completion, which must be a success. Returns whether there was one. */
static inline int hca_poll_cq(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int count = ibv_poll_cq(cq, 1, wc);

	if (count < 0)
		job_die("ibv_poll_cq returned %d", count);
	if (count && wc->status != IBV_WC_SUCCESS)
		job_die("wr_id 0x%llx: %s", (unsigned long long)wc->wr_id,
			VERB(wc_status_str)(wc->status));
	return count;
}

/* ---- The attributes of each step of a QP, for clients that set all others to 0 ---- */

static inline struct ibv_qp_attr hca_init_attr(int access)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access,
	};
}

static inline struct ibv_qp_attr hca_rtr_attr(uint32_t dest_qpn, uint32_t lid, uint32_t psn)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest_qpn,
		.rq_psn = psn,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = { .dlid = (uint16_t)lid, .port_num = 1 },
	};
}

static inline struct ibv_qp_attr hca_rts_attr(uint8_t timeout, uint32_t psn)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = timeout,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = psn,
		.max_rd_atomic = 4,
	};
}

#endif
