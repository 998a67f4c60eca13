/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asserts what the library assumes of the rdma-core headers of this build. Old binaries use objects
 * of today's library. So if a line fails here, they would crash or corrupt memory: do not relax the
 * line, find out what moved.
 */
#include <stddef.h>

#include <abi/legacy.h>

#define OFFSET(type, field) offsetof(struct type, field)
#define SAME(field, modern, legacy) \
	_Static_assert(OFFSET(modern, field) == OFFSET(legacy, field) && \
		       sizeof(((struct modern *)0)->field) == sizeof(((struct legacy *)0)->field), \
		       #modern "." #field " has moved: old programs use it where it was")

/* Old programs read these straight from QPs that the provider allocates. */
SAME(context, ibv_qp, legacy_qp);
SAME(qp_context, ibv_qp, legacy_qp);
SAME(pd, ibv_qp, legacy_qp);
SAME(send_cq, ibv_qp, legacy_qp);
SAME(recv_cq, ibv_qp, legacy_qp);
SAME(srq, ibv_qp, legacy_qp);
SAME(handle, ibv_qp, legacy_qp);
SAME(qp_num, ibv_qp, legacy_qp);
SAME(state, ibv_qp, legacy_qp);
SAME(qp_type, ibv_qp, legacy_qp);

/* The library reads these of an SRQ before it knows whether it is an image or the provider's. */
SAME(context, ibv_srq, legacy_srq);
SAME(srq_context, ibv_srq, legacy_srq);
SAME(pd, ibv_srq, legacy_srq);
SAME(handle, ibv_srq, legacy_srq);
SAME(context, ibv_srq, legacy_mlnx_srq);
SAME(handle, ibv_srq, legacy_mlnx_srq);

/* CQs are the provider's own. Old inline functions find the ops table through context. */
SAME(context, ibv_cq, legacy_cq);
SAME(channel, ibv_cq, legacy_cq);
SAME(cq_context, ibv_cq, legacy_cq);
SAME(cqe, ibv_cq, legacy_cq);

/* Work requests of old programs reach the provider unchanged. */
SAME(wr_id, ibv_send_wr, legacy_send_wr);
SAME(next, ibv_send_wr, legacy_send_wr);
SAME(sg_list, ibv_send_wr, legacy_send_wr);
SAME(num_sge, ibv_send_wr, legacy_send_wr);
SAME(opcode, ibv_send_wr, legacy_send_wr);
SAME(send_flags, ibv_send_wr, legacy_send_wr);
SAME(imm_data, ibv_send_wr, legacy_send_wr);
SAME(wr, ibv_send_wr, legacy_send_wr);
SAME(wr.rdma.rkey, ibv_send_wr, legacy_send_wr);
SAME(wr.atomic.compare_add, ibv_send_wr, legacy_send_wr);
SAME(wr.atomic.swap, ibv_send_wr, legacy_send_wr);
SAME(wr.atomic.rkey, ibv_send_wr, legacy_send_wr);
SAME(wr.ud.remote_qkey, ibv_send_wr, legacy_send_wr);
_Static_assert(OFFSET(ibv_send_wr, qp_type.xrc.remote_srqn) ==
		       OFFSET(legacy_send_wr, xrc_remote_srq_num),
	       "the SRQ number of an old work request is not where the provider reads it");

/* Passed through by pointer; xrc_domain lies just behind what rdma-core reads and writes. */
SAME(qp_context, ibv_qp_init_attr, legacy_qp_init_attr);
SAME(send_cq, ibv_qp_init_attr, legacy_qp_init_attr);
SAME(recv_cq, ibv_qp_init_attr, legacy_qp_init_attr);
SAME(srq, ibv_qp_init_attr, legacy_qp_init_attr);
SAME(cap, ibv_qp_init_attr, legacy_qp_init_attr);
SAME(qp_type, ibv_qp_init_attr, legacy_qp_init_attr);
SAME(sq_sig_all, ibv_qp_init_attr, legacy_qp_init_attr);
_Static_assert(
	sizeof(struct ibv_qp_init_attr) == OFFSET(legacy_qp_init_attr, xrc_domain),
	"ibv_qp_init_attr has grown: rdma-core would read and write the caller's xrc_domain");

/* For ordinary QPs, old programs pass to rdma-core a struct that ends before rate_limit. */
SAME(qp_state, ibv_qp_attr, legacy_qp_attr);
SAME(dest_qp_num, ibv_qp_attr, legacy_qp_attr);
SAME(qp_access_flags, ibv_qp_attr, legacy_qp_attr);
SAME(cap, ibv_qp_attr, legacy_qp_attr);
SAME(ah_attr, ibv_qp_attr, legacy_qp_attr);
SAME(alt_ah_attr, ibv_qp_attr, legacy_qp_attr);
SAME(pkey_index, ibv_qp_attr, legacy_qp_attr);
SAME(min_rnr_timer, ibv_qp_attr, legacy_qp_attr);
SAME(alt_timeout, ibv_qp_attr, legacy_qp_attr);
_Static_assert(OFFSET(ibv_qp_attr, rate_limit) == sizeof(struct legacy_qp_attr),
	       "ibv_qp_attr: rate_limit does not begin where the old struct ends");

/* Caller-owned, filled by us. */
SAME(element.cq, ibv_async_event, legacy_async_event);
SAME(element.qp, ibv_async_event, legacy_async_event);
SAME(element.srq, ibv_async_event, legacy_async_event);
SAME(element.port_num, ibv_async_event, legacy_async_event);
SAME(event_type, ibv_async_event, legacy_async_event);
_Static_assert(sizeof(struct ibv_async_event) == sizeof(struct legacy_async_event),
	       "ibv_async_event: the size has changed; the caller owns the struct");

/* The slots that inline functions of old headers call. */
#define SAME_SLOT(slot, number) \
	_Static_assert(OFFSET(ibv_context, ops.slot) == \
		       OFFSET(legacy_context, ops) + (number) * sizeof(void *), \
		       #slot " has moved: old programs would call another operation")

SAME_SLOT(_compat_query_port, LEGACY_OPS_QUERY_PORT);
SAME_SLOT(poll_cq, LEGACY_OPS_POLL_CQ);
SAME_SLOT(req_notify_cq, LEGACY_OPS_REQ_NOTIFY_CQ);
SAME_SLOT(post_srq_recv, LEGACY_OPS_POST_SRQ_RECV);
SAME_SLOT(post_send, LEGACY_OPS_POST_SEND);
SAME_SLOT(post_recv, LEGACY_OPS_POST_RECV);

SAME(device, ibv_context, legacy_context);
SAME(cmd_fd, ibv_context, legacy_context);
SAME(async_fd, ibv_context, legacy_context);
SAME(num_comp_vectors, ibv_context, legacy_context);

SAME(node_type, ibv_device, legacy_device);
SAME(transport_type, ibv_device, legacy_device);
SAME(name, ibv_device, legacy_device);
SAME(dev_name, ibv_device, legacy_device);
SAME(dev_path, ibv_device, legacy_device);
SAME(ibdev_path, ibv_device, legacy_device);

/* Numbers that have another name today, or none. */
_Static_assert(IBV_DEVICE_XRC == LEGACY_DEVICE_XRC,
	       "old programs test this bit before they use XRC");
_Static_assert(IBV_QPT_RAW_PACKET == LEGACY_QPT_RAW_ETH, "type 8 passes through");
_Static_assert(IBV_QPT_RC == 2 && IBV_QPT_UC == 3 && IBV_QPT_UD == 4, "types 2 to 4 pass through");
_Static_assert(IBV_QPT_RAW_PACKET != LEGACY_QPT_XRC && IBV_QPT_XRC_SEND != LEGACY_QPT_XRC &&
	       IBV_QPT_XRC_RECV != LEGACY_QPT_XRC, "type 5 must mean nothing else today");
