/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asserts when compiled that the frozen header of MLNX_OFED 2.x-4.x has the layouts of contract 2.6
 * (x86-64).
 */

#include <infiniband/verbs.h>

#if defined(__x86_64__) && defined(__LP64__)

#define AT(type, member, offset) \
	_Static_assert(offsetof(struct type, member) == (offset), #type "." #member)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)

SIZE(ibv_srq, 176);
AT(ibv_srq, mutex, 32);
AT(ibv_srq, cond, 72);
AT(ibv_srq, events_completed, 120);
AT(ibv_srq, xrc_srq_num, 152);
AT(ibv_srq, xrc_domain, 160);
AT(ibv_srq, xrc_cq, 168);
SIZE(ibv_qp, 160);
AT(ibv_qp, qp_num, 52);
AT(ibv_qp, mutex, 64);
AT(ibv_qp, events_completed, 152);
SIZE(ibv_cq, 128);
SIZE(ibv_qp_init_attr, 72);
AT(ibv_qp_init_attr, qp_type, 52);
AT(ibv_qp_init_attr, xrc_domain, 64);
SIZE(ibv_send_wr, 128);
AT(ibv_send_wr, wr, 40);
AT(ibv_send_wr, xrc_remote_srq_num, 72);
AT(ibv_send_wr, bind_mw, 80);
SIZE(ibv_xrc_domain, 16);
SIZE(ibv_async_event, 16);
AT(ibv_async_event, event_type, 8);
SIZE(ibv_qp_attr, 136);
AT(ibv_qp_attr, ah_attr, 56);
AT(ibv_qp_attr, pkey_index, 120);
AT(ibv_qp_attr, alt_timeout, 134);
SIZE(ibv_wc, 48);
AT(ibv_wc, qp_num, 28);
SIZE(ibv_port_attr, 48);
AT(ibv_port_attr, lid, 34);
SIZE(ibv_mr, 48);
SIZE(ibv_context, 328);
AT(ibv_context, ops.poll_cq, 96);
AT(ibv_context, ops.req_notify_cq, 104);
AT(ibv_context, ops.post_srq_recv, 168);
AT(ibv_context, ops.post_send, 208);
AT(ibv_context, ops.post_recv, 216);
AT(ibv_context, cmd_fd, 264);
AT(ibv_context, async_fd, 268);

#endif
