/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The kernel's commands to open, modify, query and destroy a QP, without libibverbs. */
#include "kernel.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>

#define COMMAND(kernel_struct)				\
	struct {					\
		struct ib_uverbs_cmd_hdr header;	\
		struct kernel_struct core;		\
	}

/* Returns 0 or a positive errno. The kernel counts in words of 32 bits. */
static int run(struct ibv_context *context, uint32_t number, void *command, size_t size,
	       size_t response_size)
{
	struct ib_uverbs_cmd_hdr *header = command;

	header->command = number;
	header->in_words = (uint16_t)(size / 4);
	header->out_words = (uint16_t)(response_size / 4);
	return write(context->cmd_fd, command, size) == (ssize_t)size ? 0 : errno;
}

/* The domain as libibverbs has it. HAS_HANDLE is set in comp_mask if the handle is valid. */
struct libibverbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
#define HAS_HANDLE 1
	uint32_t handle;
};

int kernel_uverbs_open_qp(struct ibv_xrcd *xrcd, struct ibv_qp *qp)
{
	const struct libibverbs_xrcd *domain = (const struct libibverbs_xrcd *)xrcd;
	struct ib_uverbs_create_qp_resp opened = { .qp_handle = 0 };
	COMMAND(ib_uverbs_open_qp) open = { .core = {
		.response = (uintptr_t)&opened,
		.user_handle = (uintptr_t)qp,
		.pd_handle = domain->handle,
		.qpn = qp->qp_num,
		.qp_type = (uint8_t)qp->qp_type,
	} };
	int err;

	if (!(domain->comp_mask & HAS_HANDLE))
		return EOPNOTSUPP;
	err = run(xrcd->context, IB_USER_VERBS_CMD_OPEN_QP, &open, sizeof(open), sizeof(opened));
	if (err)
		return err;
	qp->handle = opened.qp_handle;
	qp->state = IBV_QPS_UNKNOWN;
	qp->events_completed = 0;
	pthread_mutex_init(&qp->mutex, NULL);
	pthread_cond_init(&qp->cond, NULL);
	return 0;
}

static struct ib_uverbs_qp_dest dest_of(const struct ibv_ah_attr *ah)
{
	struct ib_uverbs_qp_dest dest = {
		.flow_label = ah->grh.flow_label,
		.dlid = ah->dlid,
		.sgid_index = ah->grh.sgid_index,
		.hop_limit = ah->grh.hop_limit,
		.traffic_class = ah->grh.traffic_class,
		.sl = ah->sl,
		.src_path_bits = ah->src_path_bits,
		.static_rate = ah->static_rate,
		.is_global = ah->is_global,
		.port_num = ah->port_num,
	};

	memcpy(dest.dgid, &ah->grh.dgid, sizeof(dest.dgid));
	return dest;
}

/* The kernel reads only the members that the mask names. */
int kernel_uverbs_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	COMMAND(ib_uverbs_modify_qp) modify = { .core = {
		.dest = dest_of(&attr->ah_attr),
		.alt_dest = dest_of(&attr->alt_ah_attr),
		.qp_handle = qp->handle,
		.attr_mask = (uint32_t)mask,
		.qkey = attr->qkey,
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		.dest_qp_num = attr->dest_qp_num,
		.qp_access_flags = (uint32_t)attr->qp_access_flags,
		.pkey_index = attr->pkey_index,
		.alt_pkey_index = attr->alt_pkey_index,
		.qp_state = (uint8_t)attr->qp_state,
		.cur_qp_state = (uint8_t)attr->cur_qp_state,
		.path_mtu = (uint8_t)attr->path_mtu,
		.path_mig_state = (uint8_t)attr->path_mig_state,
		.en_sqd_async_notify = attr->en_sqd_async_notify,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.min_rnr_timer = attr->min_rnr_timer,
		.port_num = attr->port_num,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.alt_port_num = attr->alt_port_num,
		.alt_timeout = attr->alt_timeout,
	} };

	return run(qp->context, IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify), 0);
}

static struct ibv_ah_attr ah_of(const struct ib_uverbs_qp_dest *dest)
{
	struct ibv_ah_attr ah = {
		.grh = {
			.flow_label = dest->flow_label,
			.sgid_index = dest->sgid_index,
			.hop_limit = dest->hop_limit,
			.traffic_class = dest->traffic_class,
		},
		.dlid = dest->dlid,
		.sl = dest->sl,
		.src_path_bits = dest->src_path_bits,
		.static_rate = dest->static_rate,
		.is_global = dest->is_global,
		.port_num = dest->port_num,
	};

	memcpy(&ah.grh.dgid, dest->dgid, sizeof(dest->dgid));
	return ah;
}

static struct ibv_qp_attr attr_of(const struct ib_uverbs_query_qp_resp *answer)
{
	return (struct ibv_qp_attr){
		.qp_state = answer->qp_state,
		.cur_qp_state = answer->cur_qp_state,
		.path_mtu = answer->path_mtu,
		.path_mig_state = answer->path_mig_state,
		.qkey = answer->qkey,
		.rq_psn = answer->rq_psn,
		.sq_psn = answer->sq_psn,
		.dest_qp_num = answer->dest_qp_num,
		.qp_access_flags = answer->qp_access_flags,
		.cap = {
			.max_send_wr = answer->max_send_wr,
			.max_recv_wr = answer->max_recv_wr,
			.max_send_sge = answer->max_send_sge,
			.max_recv_sge = answer->max_recv_sge,
			.max_inline_data = answer->max_inline_data,
		},
		.ah_attr = ah_of(&answer->dest),
		.alt_ah_attr = ah_of(&answer->alt_dest),
		.pkey_index = answer->pkey_index,
		.alt_pkey_index = answer->alt_pkey_index,
		.sq_draining = answer->sq_draining,
		.max_rd_atomic = answer->max_rd_atomic,
		.max_dest_rd_atomic = answer->max_dest_rd_atomic,
		.min_rnr_timer = answer->min_rnr_timer,
		.port_num = answer->port_num,
		.timeout = answer->timeout,
		.retry_cnt = answer->retry_cnt,
		.rnr_retry = answer->rnr_retry,
		.alt_port_num = answer->alt_port_num,
		.alt_timeout = answer->alt_timeout,
	};
}

int kernel_uverbs_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			   struct ibv_qp_init_attr *init_attr)
{
	struct ib_uverbs_query_qp_resp answer = { .qp_state = 0 };
	struct ibv_qp_attr now;
	COMMAND(ib_uverbs_query_qp) query = { .core = {
		.response = (uintptr_t)&answer,
		.qp_handle = qp->handle,
		.attr_mask = IBV_QP_STATE,	/* which no kernel reads (contract 2.3) */
	} };
	int err = run(qp->context, IB_USER_VERBS_CMD_QUERY_QP, &query, sizeof(query),
		      sizeof(answer));

	if (err)
		return err;
	/* An old program's struct ends before rate_limit. */
	now = attr_of(&answer);
	memcpy(attr, &now, offsetof(struct ibv_qp_attr, rate_limit));
	*init_attr = (struct ibv_qp_init_attr){
		.qp_context = qp->qp_context,
		.cap = attr->cap,
		.qp_type = qp->qp_type,
		.sq_sig_all = answer.sq_sig_all,
	};
	return 0;
}

int kernel_uverbs_destroy_qp(struct ibv_qp *qp)
{
	struct ib_uverbs_destroy_qp_resp answer = { .events_reported = 0 };
	COMMAND(ib_uverbs_destroy_qp) destroy = { .core = {
		.response = (uintptr_t)&answer,
		.qp_handle = qp->handle,
	} };
	int err = run(qp->context, IB_USER_VERBS_CMD_DESTROY_QP, &destroy, sizeof(destroy),
		      sizeof(answer));

	if (err)
		return err;
	pthread_mutex_lock(&qp->mutex);
	while (qp->events_completed != answer.events_reported)
		pthread_cond_wait(&qp->cond, &qp->mutex);
	pthread_mutex_unlock(&qp->mutex);
	return 0;
}
