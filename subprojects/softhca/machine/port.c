/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ports. On Ethernet each address has a GID for each version of RoCE. */
#include "port.h"

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#define PORT_CM_SUP	  (1u << 16)
#define PORT_IP_BASED_GIDS (1u << 26)

#define IB_PKEYS 128

enum { LINK_LOCAL, IPV4, IPV6, ADDRESSES };

static bool ethernet(const struct hca_device *device)
{
	return device->machine->settings.ethernet;
}

uint16_t port_lid(const struct hca_device *device, uint8_t port)
{
	return ethernet(device) ? 0 : device->port[port].lid;
}

uint16_t port_sm_lid(struct hca_machine *machine)
{
	return port_lid(machine_wire_device(machine, 0), 1);
}

uint32_t port_capabilities(const struct hca_machine *machine)
{
	if (machine->settings.ethernet)
		return PORT_CM_SUP | PORT_IP_BASED_GIDS;
	return IBV_PORT_AUTO_MIGR_SUP | IBV_PORT_SYS_IMAGE_GUID_SUP | IBV_PORT_CLIENT_REG_SUP;
}

/* The most that drivers choose for an interface whose own MTU is 1500. */
uint8_t port_mtu(const struct hca_machine *machine)
{
	return machine->settings.ethernet ? IBV_MTU_1024 : IBV_MTU_4096;
}

uint16_t port_pkeys(const struct hca_machine *machine)
{
	return machine->settings.ethernet ? 1 : IB_PKEYS;
}

uint32_t port_ipv4(const struct hca_device *device, uint8_t port)
{
	return settings_address(&device->machine->settings, device->wire_index, port);
}

void port_ipv6(const struct hca_device *device, uint8_t port, uint8_t address[16])
{
	uint32_t ipv4 = htonl(port_ipv4(device, port));

	memset(address, 0, 16);
	address[0] = 0xfd;
	memcpy(address + 12, &ipv4, sizeof(ipv4));
}

/* ---- GIDs ---- */

static void ipv4_gid(uint32_t ipv4, uint8_t gid[16])
{
	ipv4 = htonl(ipv4);
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	memcpy(gid + 12, &ipv4, sizeof(ipv4));
}

/* The vendor's bytes of the GUID, then the lowest ones. */
void port_own_mac(const struct hca_device *device, uint8_t port, uint8_t mac[6])
{
	uint64_t guid = htobe64(device->guid + port);

	memcpy(mac, &guid, 3);
	memcpy(mac + 3, (uint8_t *)&guid + 5, 3);
}

/* Interface identifier of an IPv6 address (EUI-64). */
static void link_local(const struct hca_device *device, uint8_t port, uint8_t gid[16])
{
	uint8_t mac[6];

	port_own_mac(device, port, mac);
	memcpy(gid, (const uint8_t[8]){ 0xfe, 0x80 }, 8);
	memcpy(gid + 8,
	       (const uint8_t[8]){ mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5] },
	       8);
}

static void ib_gid(const struct hca_device *device, uint8_t port, uint8_t gid[16])
{
	uint64_t id = htobe64(device->guid + port);

	memcpy(gid, (const uint8_t[8]){ 0xfe, 0x80 }, 8);
	memcpy(gid + 8, &id, sizeof(id));
}

/* How many GIDs each address has. The last of them has the latest version. */
static unsigned int roce_versions(const struct hca_machine *machine)
{
	return machine->settings.model->roce_v2 ? 2 : 1;
}

enum gid_type port_gid(const struct hca_device *device, uint8_t port, unsigned int index,
		       uint8_t gid[16])
{
	const unsigned int versions = roce_versions(device->machine);

	memset(gid, 0, 16);
	if (index >= (ethernet(device) ? versions * ADDRESSES : 1))
		return GID_NONE;
	if (!ethernet(device)) {
		ib_gid(device, port, gid);
		return GID_IB;
	}
	switch (index / versions) {
	case LINK_LOCAL:
		link_local(device, port, gid);
		break;
	case IPV4:
		ipv4_gid(port_ipv4(device, port), gid);
		break;
	default:
		port_ipv6(device, port, gid);
		break;
	}
	return index % versions ? GID_ROCE_V2 : GID_ROCE_V1;
}

uint8_t port_gid_index(const struct hca_machine *machine, int family)
{
	const unsigned int versions = roce_versions(machine);
	const unsigned int address = family == AF_INET	? IPV4
				     : family == AF_INET6 ? IPV6
							  : LINK_LOCAL;

	return machine->settings.ethernet ? (uint8_t)(versions * address + versions - 1) : 0;
}

/* ---- the ports of GIDs ---- */

bool port_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, prefix, sizeof(prefix));
}

/* As ib_core: an IPv4 address in an IPv6 one may be of a group, too. */
bool port_is_group(const uint8_t gid[16])
{
	return gid[0] == 0xff || (port_is_ipv4(gid) && gid[12] >> 4 == 0xe);
}

static bool has(const struct hca_device *device, uint8_t port, const uint8_t gid[16])
{
	uint8_t own[16];

	for (unsigned int index = 0; port_gid(device, port, index, own) != GID_NONE; index++) {
		if (!memcmp(own, gid, sizeof(own)))
			return true;
	}
	return false;
}

static const struct hca_device *find_port(struct hca_machine *machine, const uint8_t gid[16],
					  uint8_t *port)
{
	for (int i = 0; i < machine_wire_devices(machine); i++) {
		const struct hca_device *device = machine_wire_device(machine, i);

		for (*port = 1; *port <= machine->settings.ports; ++*port) {
			if (has(device, *port, gid))
				return device;
		}
	}
	return NULL;
}

uint16_t port_behind(struct hca_machine *machine, const uint8_t gid[16])
{
	const struct hca_device *device;
	uint8_t port;

	if (port_is_group(gid))
		return PORT_FIRST_GROUP;
	device = find_port(machine, gid, &port);
	return device ? device->port[port].lid : 0;
}

void port_route(struct hca_machine *machine, struct av *av)
{
	if (!machine->settings.ethernet)
		return;
	av->global = true;
	av->dlid = port_behind(machine, av->dgid);
}

bool port_mac(struct hca_machine *machine, const uint8_t gid[16], uint8_t mac[6])
{
	const struct hca_device *device;
	uint8_t port;

	/* RFC 2464 (IPv6) and RFC 1112 (IPv4). Only the prefix differs. */
	if (port_is_group(gid)) {
		memcpy(mac, gid[0] == 0xff ? "\x33\x33" : "\x01\x00", 2);
		memcpy(mac + 2, gid + 12, 4);
		if (gid[0] != 0xff)
			memcpy(mac + 2, (const uint8_t[2]){ 0x5e, gid[13] & 0x7f }, 2);
		return true;
	}
	device = find_port(machine, gid, &port);
	if (device)
		port_own_mac(device, port, mac);
	return device;
}
