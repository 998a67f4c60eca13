/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A one-way program: a PD, CQ, MR, XRCD, SRQ, receive QP and SENDERS sending QPs. It prints the
 * device's objects. All ops of the data path but post_srq_recv must be the provider's.
 */

#include <fcntl.h>

#include "end.h"
#include "receiver.h"
#include "../row.h"

#define SENDERS 3

/* Sends a message to itself, and registers with its receive QP. Returns that QP's number. */
static uint32_t send_to_itself(struct end *end)
{
	uint32_t qp_num = receive_qp(end->domain);

	connect_to_itself(end, qp_num);
	receive_through(end, qp_num);
	must_eq(ibv_reg_xrc_rcv_qp(end->domain, qp_num), 0);
	return qp_num;
}

static void check_ops(const struct ibv_context_ops *before, const struct ibv_context_ops *after)
{
	row_begin("all ops of the data path but post_srq_recv are the provider's");
	must(after->poll_cq == before->poll_cq);
	must(after->req_notify_cq == before->req_notify_cq);
	must(after->post_send == before->post_send);
	must(after->post_recv == before->post_recv);
	must(after->post_srq_recv != before->post_srq_recv);
	row_ok();
}

/* The ops of a context on which no XRC verb was called. */
static struct ibv_context_ops untouched_ops(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_context_ops ops;

	must(context);
	ops = context->ops;
	ibv_free_device_list(list);
	must_eq(ibv_close_device(context), 0);
	return ops;
}

int main(void)
{
	struct ibv_context_ops before;
	struct ibv_qp *others[SENDERS - 1];
	uint32_t qp_num;
	struct end end;

	row_begin("uses XRC one way");
	row_inherit("");
	before = untouched_ops();
	end_open(&end, 0, -1, false);
	for (int i = 0; i < SENDERS - 1; i++) {
		end_create_qp(&end, 16);
		others[i] = end.qp;
	}
	end_create_qp(&end, 16);
	qp_num = send_to_itself(&end);
	row_ok();
	check_ops(&before, &end.context->ops);
	show_objects();
	for (int i = 0; i < SENDERS - 1; i++)
		must_eq(ibv_destroy_qp(others[i]), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
	return 0;
}
