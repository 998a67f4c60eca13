/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads a netlink request, and begins its answers. */
#include "nldev.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

uint32_t nldev_asked(const struct question *q, uint16_t attribute)
{
	struct nlattr header;
	uint32_t value;
	size_t at = 0;

	for (; at + sizeof(header) <= q->size; at += (size_t)NLA_ALIGN(header.nla_len)) {
		memcpy(&header, q->attributes + at, sizeof(header));
		if (header.nla_len < sizeof(header) || header.nla_len > q->size - at)
			break;
		if (header.nla_type != attribute ||
		    header.nla_len != sizeof(header) + sizeof(value))
			continue;
		memcpy(&value, q->attributes + at + sizeof(header), sizeof(value));
		return value;
	}
	return NLDEV_NOT_GIVEN;
}

bool nldev_is_dump(const struct question *q)
{
	return q->flags & NLM_F_MULTI;
}

bool nldev_port_is_valid(const struct question *q)
{
	return q->port == NLDEV_NOT_GIVEN ||
	       (q->port >= 1 && q->port <= (uint32_t)q->machine->settings.ports);
}

bool nldev_wants_port(const struct question *q, uint32_t port)
{
	return q->port == NLDEV_NOT_GIVEN || q->port == port;
}

bool nldev_is_valid(const struct question *q, uint16_t attribute, bool has_port)
{
	bool complete = nldev_is_dump(q) || (nldev_asked(q, attribute) != NLDEV_NOT_GIVEN &&
					     has_port == (q->port != NLDEV_NOT_GIVEN));

	return complete && nldev_port_is_valid(q);
}

bool nldev_wants_number(const struct question *q, uint16_t attribute, uint32_t number)
{
	return nldev_is_dump(q) || nldev_asked(q, attribute) == number;
}

void nldev_begin(const struct question *q, const struct hca_device *device)
{
	nl_message(q->nl, q->type, q->flags, q->seq);
	nl_u32(q->nl, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)device->index);
	nl_text(q->nl, RDMA_NLDEV_ATTR_DEV_NAME, device->name);
}
