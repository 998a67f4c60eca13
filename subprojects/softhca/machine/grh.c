/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The network header of a packet: a GRH, or with RoCE v2 the header of IPv4 or IPv6. */
#include "grh.h"

#include <base/bytes.h>

#include <netinet/in.h>

#define IBA_TRANSPORT 0x1b /* next header */

/* The header is in the last 20 bytes of the GRH. Programs recognise it by its checksum. */
static void fill_ipv4(const struct av *av, const uint8_t sgid[16], uint32_t payload,
		      uint8_t grh[GRH_BYTES])
{
	uint8_t *ip = grh + GRH_BYTES - 20;
	uint32_t sum = 0;

	ip[0] = 0x45;
	ip[1] = av->traffic_class;
	put16(ip + 2, (uint16_t)(payload + 20));
	ip[6] = 0x40; /* do not fragment */
	ip[8] = av->hop_limit;
	ip[9] = IPPROTO_UDP;
	memcpy(ip + 12, sgid + 12, 4);
	memcpy(ip + 16, av->dgid + 12, 4);
	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, (uint16_t)~(sum + (sum >> 16)));
}

static void fill_ipv6(const struct av *av, const uint8_t sgid[16], uint32_t payload, uint8_t next,
		      uint8_t grh[GRH_BYTES])
{
	grh[0] = (uint8_t)(0x60 | av->traffic_class >> 4);
	grh[1] = (uint8_t)((uint32_t)av->traffic_class << 4 | av->flow_label >> 16);
	put16(grh + 2, (uint16_t)av->flow_label);
	put16(grh + 4, (uint16_t)payload);
	grh[6] = next;
	grh[7] = av->hop_limit;
	memcpy(grh + 8, sgid, 16);
	memcpy(grh + 24, av->dgid, sizeof(av->dgid));
}

enum gid_type grh_fill(const struct hca_device *device, uint8_t port, const struct av *av,
		       uint32_t bytes, uint8_t grh[GRH_BYTES])
{
	uint8_t sgid[16];
	enum gid_type type = port_gid(device, port, av->sgid_index, sgid);
	bool udp = type == GID_ROCE_V2;

	memset(grh, 0, GRH_BYTES);
	if (udp && port_is_ipv4(sgid))
		fill_ipv4(av, sgid, bytes + UDP_BYTES, grh);
	else
		fill_ipv6(av, sgid, bytes + (udp ? UDP_BYTES : 0),
			  udp ? IPPROTO_UDP : IBA_TRANSPORT, grh);
	return type;
}

bool grh_is_ipv4(const uint8_t grh[GRH_BYTES])
{
	return !grh[0];
}
