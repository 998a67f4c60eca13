/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The kernel's RDMA netlink interface, for rdma(8): requests, devices, ports and counters. */
#include "nldev.h"
#include "control.h"

#include <base/kernel.h>
#include <machine/port.h>
#include <uverbs/cmd.h>

#include <endian.h>
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#define NODE_CA 1 /* of the kernel's enum rdma_node_type */

/* ---- devices and ports ---- */

static int answer_device(const struct question *q, const struct hca_device *device)
{
	nldev_begin(q, device);
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

/* Attributes of InfiniBand ports only. */
static void answer_subnet(const struct question *q, const struct hca_device *device, uint8_t number)
{
	uint64_t prefix;
	uint8_t gid[16];

	port_gid(device, number, 0, gid);
	memcpy(&prefix, gid, sizeof(prefix));
	nl_u64(q->nl, RDMA_NLDEV_ATTR_CAP_FLAGS, port_capabilities(q->machine));
	nl_u64(q->nl, RDMA_NLDEV_ATTR_SUBNET_PREFIX, be64toh(prefix));
	nl_u32(q->nl, RDMA_NLDEV_ATTR_LID, port_lid(device, number));
	nl_u32(q->nl, RDMA_NLDEV_ATTR_SM_LID, port_sm_lid(device->machine));
	nl_u8(q->nl, RDMA_NLDEV_ATTR_LMC, 0);
}

static void answer_one_port(const struct question *q, const struct hca_device *device,
			    uint8_t number)
{
	const struct hca_port *port = &device->port[number];

	nldev_begin(q, device);
	nl_u32(q->nl, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	if (!q->machine->settings.ethernet)
		answer_subnet(q, device, number);
	nl_u8(q->nl, RDMA_NLDEV_ATTR_PORT_STATE, port->active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN);
	nl_u8(q->nl, RDMA_NLDEV_ATTR_PORT_PHYS_STATE,
	      port->active ? PORT_LINK_UP : PORT_POLLING);
	if (port->interface_index) {
		nl_u32(q->nl, RDMA_NLDEV_ATTR_NDEV_INDEX, port->interface_index);
		nl_text(q->nl, RDMA_NLDEV_ATTR_NDEV_NAME, port->interface);
	}
	nl_end_message(q->nl);
}

/* As in the kernel, a dump has all ports, even if it names one. */
static int answer_port(const struct question *q, const struct hca_device *device)
{
	bool all = nldev_is_dump(q);

	if (!all && (q->port == NLDEV_NOT_GIVEN || !nldev_port_is_valid(q)))
		return -EINVAL;
	for (int i = 1; i <= q->machine->settings.ports; i++) {
		if (all || nldev_wants_port(q, (uint32_t)i))
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
	const struct hca_counts *counts;

	if (nldev_asked(q, RDMA_NLDEV_ATTR_STAT_RES) != NLDEV_NOT_GIVEN)
		return nldev_is_dump(q) ? 0 : -EOPNOTSUPP;
	if (nldev_is_dump(q) || q->port == NLDEV_NOT_GIVEN || !nldev_port_is_valid(q))
		return -EINVAL;
	counts = &device->port[q->port].counts;
	nldev_begin(q, device);
	nl_u32(q->nl, RDMA_NLDEV_ATTR_PORT_INDEX, q->port);
	nl_nest(q->nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	put_counter(q->nl, "sent", counts->sent);
	put_counter(q->nl, "sent_bytes", counts->sent_bytes);
	put_counter(q->nl, "received", counts->received);
	put_counter(q->nl, "received_bytes", counts->received_bytes);
	put_counter(q->nl, "errors", counts->errors);
	nl_end_message(q->nl);
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
	switch (RDMA_NL_GET_OP(q->type)) {
	case RDMA_NLDEV_CMD_GET:
		return answer_device(q, device);
	case RDMA_NLDEV_CMD_PORT_GET:
		return answer_port(q, device);
	case RDMA_NLDEV_CMD_STAT_GET:
		return answer_counters(q, device);
	default:
		return nldev_answer_objects(q, device);
	}
}

/* As in the kernel, a dump of devices or of summaries has all devices, even if it names one. */
static bool is_about_all(const struct question *q)
{
	uint16_t command = RDMA_NL_GET_OP(q->type);

	return nldev_is_dump(q) &&
	       (command == RDMA_NLDEV_CMD_GET || command == RDMA_NLDEV_CMD_RES_GET);
}

static int answer(const struct question *q)
{
	uint32_t wanted = nldev_asked(q, RDMA_NLDEV_ATTR_DEV_INDEX);
	bool all = is_about_all(q);
	int err = 0;

	if (RDMA_NL_GET_CLIENT(q->type) != RDMA_NL_NLDEV)
		return -EINVAL;
	if (RDMA_NL_GET_OP(q->type) == RDMA_NLDEV_CMD_SYS_GET)
		return answer_system(q);
	if (!all && wanted >= (uint32_t)q->machine->settings.devices)
		return -EINVAL;
	for (int i = 0; i < q->machine->settings.devices && !err; i++) {
		if (all || wanted == (uint32_t)i)
			err = answer_about(q, &q->machine->device[i]);
	}
	return err;
}

/* The last message: a dump's end, an error, or the acknowledgement that was asked for. */
static void finish(const struct question *q, const struct nlmsghdr *request, int err)
{
	const struct nlmsgerr told = { .error = err, .msg = *request };
	const int32_t none = 0;

	if (!err && nldev_is_dump(q)) {
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
	q.flags = header.nlmsg_flags & NLM_F_DUMP ? NLM_F_MULTI : 0;
	q.seq = header.nlmsg_seq;
	q.port = nldev_asked(&q, RDMA_NLDEV_ATTR_PORT_INDEX);
	finish(&q, &header, answer(&q));
	return nl.failed ? -EMSGSIZE : 0;
}
