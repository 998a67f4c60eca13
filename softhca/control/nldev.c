/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The kernel's RDMA netlink interface: devices, ports, counters, objects. */
#include "control.h"
#include "nl.h"

#include <portable/kernel.h>
#include <softhca/cm/cm.h>
#include <softhca/machine/port.h>
#include <softhca/uverbs/cmd.h>

#include <endian.h>
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

/* Of the kernel's enum rdma_node_type and enum ib_port_phys_state. */
#define NODE_CA 1
#define POLLING 2
#define LINK_UP 5

/* asked() returns it for an attribute that the request does not have. */
#define NOT_GIVEN UINT32_MAX

struct question {
	const struct hca_machine *machine;
	const uint8_t *attributes;
	size_t size;
	uint16_t type, flags; /* of each answer */
	uint32_t seq;
	struct nl *nl;
};

static uint32_t asked(const struct question *q, uint16_t attribute)
{
	return nl_find_u32(q->attributes, q->size, attribute, NOT_GIVEN);
}

static void begin(const struct question *q, const struct hca_device *device)
{
	nl_message(q->nl, q->type, q->flags, q->seq);
	nl_u32(q->nl, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)device->index);
	nl_text(q->nl, RDMA_NLDEV_ATTR_DEV_NAME, device->name);
}

/* ---- devices and ports ---- */

static int answer_device(const struct question *q, const struct hca_device *device)
{
	begin(q, device);
	nl_u32(q->nl, RDMA_NLDEV_ATTR_PORT_INDEX, (uint32_t)q->machine->settings.ports);
	nl_u64(q->nl, RDMA_NLDEV_ATTR_CAP_FLAGS, device_capabilities(&q->machine->settings));
	nl_text(q->nl, RDMA_NLDEV_ATTR_FW_VERSION, device->model->firmware);
	nl_u64(q->nl, RDMA_NLDEV_ATTR_NODE_GUID, device->guid);
	nl_u64(q->nl, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, device_system_guid(device));
	nl_u8(q->nl, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, NODE_CA);
	nl_text(q->nl, RDMA_NLDEV_ATTR_DEV_PROTOCOL, q->machine->settings.ethernet ? "roce" : "ib");
	nl_end_message(q->nl);
	return 0;
}

/* What only ports of InfiniBand have. */
static void answer_subnet(const struct question *q, const struct hca_device *device, uint8_t number)
{
	uint64_t prefix;
	uint8_t gid[16];

	port_gid(device, number, 0, gid);
	memcpy(&prefix, gid, sizeof(prefix));
	nl_u64(q->nl, RDMA_NLDEV_ATTR_CAP_FLAGS, port_capabilities(q->machine));
	nl_u64(q->nl, RDMA_NLDEV_ATTR_SUBNET_PREFIX, be64toh(prefix));
	nl_u32(q->nl, RDMA_NLDEV_ATTR_LID, port_lid(device, number));
	nl_u32(q->nl, RDMA_NLDEV_ATTR_SM_LID, port_sm_lid(q->machine));
	nl_u8(q->nl, RDMA_NLDEV_ATTR_LMC, 0);
}

static void answer_one_port(const struct question *q, const struct hca_device *device,
			    uint8_t number)
{
	const struct hca_port *port = &device->port[number];

	begin(q, device);
	nl_u32(q->nl, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	if (!q->machine->settings.ethernet)
		answer_subnet(q, device, number);
	nl_u8(q->nl, RDMA_NLDEV_ATTR_PORT_STATE, port->active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN);
	nl_u8(q->nl, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, port->active ? LINK_UP : POLLING);
	nl_end_message(q->nl);
}

static int answer_port(const struct question *q, const struct hca_device *device)
{
	uint32_t wanted = asked(q, RDMA_NLDEV_ATTR_PORT_INDEX);
	int ports = q->machine->settings.ports;

	if (wanted != NOT_GIVEN && (wanted < 1 || wanted > (uint32_t)ports))
		return -EINVAL;
	for (int i = 1; i <= ports; i++) {
		if (wanted == NOT_GIVEN || wanted == (uint32_t)i)
			answer_one_port(q, device, (uint8_t)i);
	}
	return 0;
}

/* ---- counters ---- */

static void put_counter(struct nl *nl, const char *name, uint64_t value)
{
	nl_nest(nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	nl_text(nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	nl_u64(nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
	nl_end(nl);
}

/* The counters of a port. QPs and MRs have none, as on an adapter where no counter was bound. */
static int answer_counters(const struct question *q, const struct hca_device *device)
{
	uint32_t port = asked(q, RDMA_NLDEV_ATTR_PORT_INDEX);
	const struct hca_counts *counts;

	if (asked(q, RDMA_NLDEV_ATTR_STAT_RES) != NOT_GIVEN)
		return q->flags & NLM_F_MULTI ? 0 : -EOPNOTSUPP;
	if (port < 1 || port > (uint32_t)q->machine->settings.ports)
		return -EINVAL;
	counts = &device->port[port].counts;
	begin(q, device);
	nl_u32(q->nl, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	nl_nest(q->nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	put_counter(q->nl, "sent", counts->sent);
	put_counter(q->nl, "sent_bytes", counts->sent_bytes);
	put_counter(q->nl, "received", counts->received);
	put_counter(q->nl, "received_bytes", counts->received_bytes);
	put_counter(q->nl, "errors", counts->errors);
	nl_end_message(q->nl);
	return 0;
}

/* ---- objects ---- */

/* A message for each object, because a program's buffer may have 4 KiB only. */
static void begin_entry(const struct question *q, const struct hca_device *device, uint16_t table,
			uint16_t entry)
{
	begin(q, device);
	nl_nest(q->nl, table);
	nl_nest(q->nl, entry);
}

static void put_qp(struct nl *nl, const struct hca_object *object)
{
	const struct hca_qp *qp = container_of(object, struct hca_qp_handle, obj)->qp;

	nl_u32(nl, RDMA_NLDEV_ATTR_PORT_INDEX, qp->attr.port);
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_LQPN, qp->qpn);
	if (qp->type == IBV_QPT_RC || qp->type == IBV_QPT_UC) {
		nl_u32(nl, RDMA_NLDEV_ATTR_RES_RQPN, qp->attr.dest_qpn);
		nl_u32(nl, RDMA_NLDEV_ATTR_RES_RQ_PSN, qp->attr.rq_psn);
		nl_u8(nl, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, qp->attr.path_mig_state);
	}
	nl_u32(nl, RDMA_NLDEV_ATTR_RES_SQ_PSN, qp->attr.sq_psn);
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
	uint16_t command, table, entry;
	enum hca_type type;
	void (*put)(struct nl *nl, const struct hca_object *object);
} kinds[] = {
	{ "pd", RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
	  HCA_PD, put_pd },
	{ "cq", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
	  HCA_CQ, put_cq },
	{ "qp", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
	  HCA_QP, put_qp },
	{ "mr", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
	  HCA_MR, put_mr },
	{ "srq", RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
	  HCA_SRQ, put_srq },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Opened handles of a QP are no QPs. */
static bool is_counted(const struct hca_object *object)
{
	return object->type != HCA_QP || !container_of(object, struct hca_qp_handle, obj)->opened;
}

static int answer_objects(const struct question *q, const struct hca_device *device,
			  const struct kind *kind)
{
	list_for_each(struct hca_context, ctx, &device->contexts, link) {
		list_for_each(struct hca_object, object, &ctx->objects[kind->type], link) {
			if (!is_counted(object))
				continue;
			begin_entry(q, device, kind->table, kind->entry);
			kind->put(q->nl, object);
			nl_u32(q->nl, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)ctx->client.pid);
			nl_end_message(q->nl);
		}
	}
	return 0;
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

	list_for_each(struct cm_id, id, &q->machine->cm.ids, known)
		count += id->device == device;
	return count;
}

static int answer_summary(const struct question *q, const struct hca_device *device)
{
	uint64_t count[KINDS] = { 0 }, contexts = 0;

	begin(q, device);
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
	list_for_each(struct cm_id, id, &q->machine->cm.ids, known) {
		if (id->device != device)
			continue;
		begin_entry(q, device, RDMA_NLDEV_ATTR_RES_CM_ID,
			    RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
		put_cm_id(q->nl, id);
		nl_end_message(q->nl);
	}
	return 0;
}

static int answer_contexts(const struct question *q, const struct hca_device *device)
{
	uint32_t number = 0;

	list_for_each(struct hca_context, ctx, &device->contexts, link) {
		begin_entry(q, device, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY);
		nl_u32(q->nl, RDMA_NLDEV_ATTR_RES_CTXN, number++);
		nl_u32(q->nl, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)ctx->client.pid);
		nl_end_message(q->nl);
	}
	return 0;
}

/* ---- requests ---- */

static int answer_system(const struct question *q)
{
	nl_message(q->nl, q->type, q->flags, q->seq);
	nl_u8(q->nl, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1); /* shared */
	nl_u8(q->nl, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	nl_end_message(q->nl);
	return 0;
}

static int answer_about(const struct question *q, const struct hca_device *device)
{
	uint16_t command = RDMA_NL_GET_OP(q->type);

	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].command == command)
			return answer_objects(q, device, &kinds[i]);
	}
	switch (command) {
	case RDMA_NLDEV_CMD_GET:
		return answer_device(q, device);
	case RDMA_NLDEV_CMD_PORT_GET:
		return answer_port(q, device);
	case RDMA_NLDEV_CMD_STAT_GET:
		return answer_counters(q, device);
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

/* About one device, or with NLM_F_DUMP about all. */
static int answer(const struct question *q)
{
	uint32_t wanted = asked(q, RDMA_NLDEV_ATTR_DEV_INDEX);
	int err = 0;

	if (RDMA_NL_GET_CLIENT(q->type) != RDMA_NL_NLDEV)
		return -EINVAL;
	if (RDMA_NL_GET_OP(q->type) == RDMA_NLDEV_CMD_SYS_GET)
		return answer_system(q);
	if (wanted == NOT_GIVEN ? !(q->flags & NLM_F_MULTI)
			     : wanted >= (uint32_t)q->machine->settings.devices)
		return -EINVAL;
	for (int i = 0; i < q->machine->settings.devices && !err; i++) {
		if (wanted == NOT_GIVEN || wanted == (uint32_t)i)
			err = answer_about(q, &q->machine->device[i]);
	}
	return err;
}

/* The last message: a dump's end, an error, or the acknowledgement that was asked for. */
static void finish(const struct question *q, const struct nlmsghdr *request, int err)
{
	const struct nlmsgerr told = { .error = err, .msg = *request };
	const int32_t none = 0;

	if (!err && q->flags & NLM_F_MULTI) {
		nl_message(q->nl, NLMSG_DONE, NLM_F_MULTI, q->seq);
		nl_raw(q->nl, &none, sizeof(none));
	} else if (err || request->nlmsg_flags & NLM_F_ACK) {
		nl_message(q->nl, NLMSG_ERROR, 0, q->seq);
		nl_raw(q->nl, &told, sizeof(told));
	} else {
		return;
	}
	nl_end_message(q->nl);
}

int nldev_execute(const struct hca_machine *machine, const void *request, size_t size, FILE *out)
{
	struct nlmsghdr header;
	struct nl nl = { .out = out };
	struct question q = { .machine = machine, .nl = &nl };

	if (size < sizeof(header))
		return -EINVAL;
	memcpy(&header, request, sizeof(header));
	if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > size)
		return -EINVAL;
	q.attributes = (const uint8_t *)request + sizeof(header);
	q.size = header.nlmsg_len - sizeof(header);
	q.type = header.nlmsg_type;
	q.flags = (header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ? NLM_F_MULTI : 0;
	q.seq = header.nlmsg_seq;
	finish(&q, &header, answer(&q));
	return nl.failed ? -EMSGSIZE : 0;
}
