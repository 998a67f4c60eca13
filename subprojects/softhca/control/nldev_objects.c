/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `rdma resource`: the objects of a device, and how many there are. */
#include "nldev.h"

#include <base/kernel.h>
#include <cm/cm.h>
#include <qp/qp.h>

#include <errno.h>
#include <rdma/rdma_netlink.h>

/*
 * In a dump each object has a message of its own, because a program's buffer may have 4 KiB only.
 * As in the kernel, only a dump has tables.
 */
static void begin_entry(const struct question *q, const struct hca_device *device, uint16_t table,
			uint16_t entry)
{
	nldev_begin(q, device);
	if (!nldev_is_dump(q))
		return;
	nl_nest(q->nl, table);
	nl_nest(q->nl, entry);
}

/* Only a dump may have no answers. */
static int result(const struct question *q)
{
	return q->nl->messages || nldev_is_dump(q) ? 0 : -ENOENT;
}

static void put_qp(struct nl *nl, const struct hca_object *object)
{
	const struct hca_qp *qp = container_of(object, struct hca_qp_handle, obj)->qp;

	/* A QP in RESET has no port. */
	if (qp->attr.port)
		nl_u32(nl, RDMA_NLDEV_ATTR_PORT_INDEX, qp->attr.port);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_LQPN, qp->qpn);
	if (qp->type == IBV_QPT_RC || qp->type == IBV_QPT_UC) {
		nl_u32(nl, RDMA_NLDEV_ATTR_RES_RQPN, qp->attr.dest_qpn);
		nl_u32(nl, RDMA_NLDEV_ATTR_RES_RQ_PSN, qp->attr.rq_psn);
	}
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_SQ_PSN, qp->attr.sq_psn);
	if (qp->type != IBV_QPT_UD)
		nl_u8(nl, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, qp->attr.path_mig_state);
	nl_u8(nl, RDMA_NLDEV_ATTR_RES_TYPE, (uint8_t)qp->type);
	nl_u8(nl, RDMA_NLDEV_ATTR_RES_STATE, (uint8_t)qp->state);
	if (qp->pd)
		nl_u32(nl, RDMA_NLDEV_ATTR_RES_PDN, qp->pd->obj.number);
}

static void put_cq(struct nl *nl, const struct hca_object *object)
{
	const struct hca_cq *cq = container_of(object, struct hca_cq, obj);

	nl_u32(nl, RDMA_NLDEV_ATTR_RES_CQE, cq->size - 1);
	nl_u64(nl, RDMA_NLDEV_ATTR_RES_USECNT, object->uses);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_CQN, object->number);
}

static void put_mr(struct nl *nl, const struct hca_object *object)
{
	const struct hca_mr *mr = container_of(object, struct hca_mr, obj);

	nl_u64(nl, RDMA_NLDEV_ATTR_RES_MRLEN, mr->length);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_MRN, object->number);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_PDN, mr->pd->obj.number);
}

static void put_pd(struct nl *nl, const struct hca_object *object)
{
	nl_u64(nl, RDMA_NLDEV_ATTR_RES_USECNT, object->uses);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_PDN, object->number);
}

static void put_qp_range(struct nl *nl, uint32_t first, uint32_t last)
{
	nl_nest(nl, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	if (first == last) {
		nl_u32(nl, RDMA_NLDEV_ATTR_RES_LQPN, first);
	} else {
		nl_u32(nl, RDMA_NLDEV_ATTR_MIN_RANGE, first);
		nl_u32(nl, RDMA_NLDEV_ATTR_MAX_RANGE, last);
	}
	nl_end(nl);
}

/*
 * As the kernel does, this sends successive numbers as one range. The table is there even if it is
 * empty: rdma(8) ignores an SRQ without one.
 */
static void put_qps_of(struct nl *nl, const struct hca_srq *srq)
{
	uint32_t first = 0, last = 0;

	nl_nest(nl, RDMA_NLDEV_ATTR_RES_QP);
	list_for_each(struct hca_qp, qp, &srq->obj.ctx->qps, link) {
		if (qp->srq != srq)
			continue;
		if (last && qp->qpn != last + 1)
			put_qp_range(nl, first, last);
		if (!last || qp->qpn != last + 1)
			first = qp->qpn;
		last = qp->qpn;
	}
	if (last)
		put_qp_range(nl, first, last);
	nl_end(nl);
}

static void put_srq(struct nl *nl, const struct hca_object *object)
{
	const struct hca_srq *srq = container_of(object, struct hca_srq, obj);

	nl_u32(nl, RDMA_NLDEV_ATTR_RES_SRQN, object->number);
	nl_u8(nl, RDMA_NLDEV_ATTR_RES_TYPE, srq->xrc ? IBV_SRQT_XRC : IBV_SRQT_BASIC);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_PDN, srq->pd->obj.number);
	if (srq->cq)
		nl_u32(nl, RDMA_NLDEV_ATTR_RES_CQN, srq->cq->obj.number);
	put_qps_of(nl, srq);
}

/* In the order of the kernel's summary, which has cm_id and ctx in between. */
static const struct kind {
	const char *name;
	uint16_t command, table, entry, number;
	enum hca_type type;
	void (*put)(struct nl *nl, const struct hca_object *object);
} kinds[] = {
	{ "pd", RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
	  RDMA_NLDEV_ATTR_RES_PDN, HCA_PD, put_pd },
	{ "cq", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
	  RDMA_NLDEV_ATTR_RES_CQN, HCA_CQ, put_cq },
	{ "qp", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
	  RDMA_NLDEV_ATTR_RES_LQPN, HCA_QP, put_qp },
	{ "mr", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
	  RDMA_NLDEV_ATTR_RES_MRN, HCA_MR, put_mr },
	{ "srq", RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
	  RDMA_NLDEV_ATTR_RES_SRQN, HCA_SRQ, put_srq },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A QP counts once, for its creator as long as that holds it. */
static bool is_counted(const struct hca_object *object)
{
	return object->type != HCA_QP ||
	       qp_oldest_handle(container_of(object, struct hca_qp_handle, obj));
}

/* Of the objects, only QPs have a port. */
static bool is_wanted(const struct question *q, const struct kind *kind,
		      const struct hca_object *object)
{
	const struct hca_qp *qp;

	if (object->type != HCA_QP)
		return nldev_wants_number(q, kind->number, object->number);
	qp = container_of(object, struct hca_qp_handle, obj)->qp;
	return nldev_wants_number(q, kind->number, qp->qpn) && nldev_wants_port(q, qp->attr.port);
}

static int answer_kind(const struct question *q, const struct hca_device *device,
		       const struct kind *kind)
{
	if (!nldev_is_valid(q, kind->number, kind->type == HCA_QP))
		return -EINVAL;
	list_for_each(struct hca_context, ctx, &device->contexts, link) {
		list_for_each(struct hca_object, object, &ctx->objects[kind->type], link) {
			if (!is_counted(object) || !is_wanted(q, kind, object))
				continue;
			begin_entry(q, device, kind->table, kind->entry);
			kind->put(q->nl, object);
			nl_u32(q->nl, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)ctx->client.pid);
			nl_end_message(q->nl);
		}
	}
	return result(q);
}

static void put_count(struct nl *nl, const char *name, uint64_t count)
{
	nl_nest(nl, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
	nl_text(nl, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	nl_u64(nl, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
	nl_end(nl);
}

static uint64_t count_cm_ids(const struct question *q, const struct hca_device *device)
{
	uint64_t count = 0;

	list_for_each(struct cm_id, id, &q->machine->cm->ids, known) count += id->device == device;
	return count;
}

static int answer_summary(const struct question *q, const struct hca_device *device)
{
	uint64_t count[KINDS] = { 0 }, contexts = 0;

	nldev_begin(q, device);
	nl_nest(q->nl, RDMA_NLDEV_ATTR_RES_SUMMARY);
	list_for_each(struct hca_context, ctx, &device->contexts, link) {
		contexts++;
		for (size_t i = 0; i < KINDS; i++) {
			list_for_each(struct hca_object, object, &ctx->objects[kinds[i].type], link)
				count[i] += is_counted(object);
		}
	}
	for (size_t i = 0; i < KINDS; i++)
		put_count(q->nl, kinds[i].name, count[i]);
	put_count(q->nl, "cm_id", count_cm_ids(q, device));
	put_count(q->nl, "ctx", contexts);
	nl_end_message(q->nl);
	return 0;
}

/* By the numbers of the kernel's enum rdma_cm_state, which no header for programs has. */
static const uint8_t cm_states[] = {
	[CM_IDLE] = 0, [CM_ADDR_QUERY] = 1, [CM_ADDR_RESOLVED] = 2, [CM_ROUTE_RESOLVED] = 4,
	[CM_CONNECT] = 5, [CM_DISCONNECT] = 6, [CM_BOUND] = 7, [CM_LISTEN] = 8,
};

static void put_address(struct nl *nl, uint16_t attribute, const union cm_address *address)
{
	size_t size = address->family == AF_INET || address->family == AF_INET6
			      ? cm_addr_size(address)
			      : 0;

	if (size)
		nl_attribute(nl, attribute, address, size);
}

static void put_cm_id(struct nl *nl, const struct cm_id *id)
{
	nl_u32(nl, RDMA_NLDEV_ATTR_PORT_INDEX, id->port);
	if (id->qpn) {
		nl_u32(nl, RDMA_NLDEV_ATTR_RES_LQPN, id->qpn);
		nl_u8(nl, RDMA_NLDEV_ATTR_RES_TYPE, id->qp_type);
	}
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_PS, id->ps);
	nl_u8(nl, RDMA_NLDEV_ATTR_RES_STATE, cm_states[id->state]);
	put_address(nl, RDMA_NLDEV_ATTR_RES_SRC_ADDR, &id->src);
	put_address(nl, RDMA_NLDEV_ATTR_RES_DST_ADDR, &id->dst);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_CM_IDN, id->number);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)id->file->client.pid);
}

/* Ids that are not bound to an adapter yet are in no adapter's list. */
static int answer_cm_ids(const struct question *q, const struct hca_device *device)
{
	if (!nldev_is_valid(q, RDMA_NLDEV_ATTR_RES_CM_IDN, true))
		return -EINVAL;
	list_for_each(struct cm_id, id, &q->machine->cm->ids, known) {
		if (id->device != device || !nldev_wants_port(q, id->port) ||
		    !nldev_wants_number(q, RDMA_NLDEV_ATTR_RES_CM_IDN, id->number))
			continue;
		begin_entry(q, device, RDMA_NLDEV_ATTR_RES_CM_ID,
			    RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
		put_cm_id(q->nl, id);
		nl_end_message(q->nl);
	}
	return result(q);
}

static int answer_contexts(const struct question *q, const struct hca_device *device)
{
	uint32_t number = 0;

	if (!nldev_is_valid(q, RDMA_NLDEV_ATTR_RES_CTXN, false))
		return -EINVAL;
	list_for_each(struct hca_context, ctx, &device->contexts, link) {
		if (!nldev_wants_number(q, RDMA_NLDEV_ATTR_RES_CTXN, number++))
			continue;
		begin_entry(q, device, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY);
		nl_u32(q->nl, RDMA_NLDEV_ATTR_RES_CTXN, number - 1);
		nl_u32(q->nl, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)ctx->client.pid);
		nl_end_message(q->nl);
	}
	return result(q);
}

int nldev_answer_objects(const struct question *q, const struct hca_device *device)
{
	uint16_t command = RDMA_NL_GET_OP(q->type);

	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].command == command)
			return answer_kind(q, device, &kinds[i]);
	}
	switch (command) {
	case RDMA_NLDEV_CMD_RES_GET:
		return answer_summary(q, device);
	case RDMA_NLDEV_CMD_RES_CTX_GET:
		return answer_contexts(q, device);
	case RDMA_NLDEV_CMD_RES_CM_ID_GET:
		return answer_cm_ids(q, device);
	default:
		return -EOPNOTSUPP;
	}
}
