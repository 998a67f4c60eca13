/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Addresses of the emulated ports. Device N's port P has the IPv4 address BASE + N * 256 + P - 1,
 * the IPv6 address fd00:: followed by that one, and its GID.
 */
#include "addr.h"
#include "cm.h"

#include <machine/port.h>
#include <proto.h>

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#define CMA_HEADER     36 /* struct cma_hdr of rdma_cm */
#define SPACE(service) ((service) & ~0xffffull)

/* memset(): an initializer of gcc 15 clears only the member of a union that it names. */
union cm_address cm_addr_none(uint16_t family)
{
	union cm_address none;

	memset(&none, 0, sizeof(none));
	none.family = family;
	return none;
}

size_t cm_addr_size(const union cm_address *address)
{
	switch (address->family) {
	case AF_INET:
		return sizeof(address->in);
	case AF_INET6:
		return sizeof(address->in6);
	case CM_AF_IB:
		return sizeof(address->ib);
	default:
		return 0;
	}
}

bool cm_addr_take_ip(union cm_address *address, const struct sockaddr_in6 *in)
{
	memset(address, 0, sizeof(*address));
	memcpy(address, in, sizeof(*in));
	return cm_addr_size(address) && cm_addr_size(address) <= sizeof(*in);
}

bool cm_addr_take_storage(union cm_address *address, const struct __kernel_sockaddr_storage *in,
			  size_t size)
{
	memset(address, 0, sizeof(*address));
	memcpy(address, in, sizeof(*in));
	return size && size == cm_addr_size(address);
}

bool cm_addr_multicast(const union cm_address *address)
{
	switch (address->family) {
	case AF_INET:
		return IN_MULTICAST(ntohl(address->in.sin_addr.s_addr));
	case AF_INET6:
		return IN6_IS_ADDR_MULTICAST(&address->in6.sin6_addr);
	default:
		return address->ib.gid[0] == 0xff;
	}
}

/* The part that names a host: the IP address or the GID. */
static const uint8_t *name_of(const union cm_address *address, size_t *length)
{
	switch (address->family) {
	case AF_INET:
		*length = sizeof(address->in.sin_addr);
		return (const uint8_t *)&address->in.sin_addr;
	case AF_INET6:
		*length = sizeof(address->in6.sin6_addr);
		return address->in6.sin6_addr.s6_addr;
	default:
		*length = sizeof(address->ib.gid);
		return address->ib.gid;
	}
}

bool cm_addr_any(const union cm_address *address)
{
	static const uint8_t zeroes[16];
	size_t length;
	const uint8_t *name = name_of(address, &length);

	return !memcmp(name, zeroes, length);
}

/* Whether it means this host. Only IP has an address for that. */
static bool loopback(const union cm_address *address)
{
	if (address->family == AF_INET)
		return ntohl(address->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return address->family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address->in6.sin6_addr);
}

static bool has(const struct hca_device *device, uint8_t port, const union cm_address *address)
{
	union cm_address own = cm_addr_none(address->family);
	size_t length;
	const uint8_t *name = name_of(address, &length);

	cm_addr_set(&own, device, port);
	return !memcmp(name_of(&own, &length), name, length);
}

/* The number of the adapter to which a loopback address belongs. */
static int host_of(const struct cm_file *file, const union cm_address *address)
{
	const uint32_t ip = address->family == AF_INET ? ntohl(address->in.sin_addr.s_addr) : 0;
	const int index = ip >> 8 & 0xff;

	if (ip >> 16 == SOFTHCA_HOST_NET && index < file->machine->settings.devices)
		return index;
	return file->host < 0 ? 0 : file->host;
}

bool cm_addr_find(const struct cm_file *file, const union cm_address *address,
		  struct hca_device **device, uint8_t *port)
{
	struct hca_machine *machine = file->machine;

	if (loopback(address)) {
		*device = &machine->device[host_of(file, address)];
		*port = 1;
		return true;
	}
	for (int i = 0; i < machine_wire_devices(machine); i++) {
		*device = machine_wire_device(machine, i);
		for (*port = 1; *port <= machine->settings.ports; ++*port) {
			if (has(*device, *port, address))
				return true;
		}
	}
	return false;
}

bool cm_addr_local(const struct cm_file *file, const struct hca_device *device)
{
	return !device_is_far(device) && (file->host < 0 || file->host == device->index);
}

void cm_addr_set(union cm_address *address, const struct hca_device *device, uint8_t port)
{
	switch (address->family) {
	case AF_INET:
		address->in.sin_addr.s_addr = htonl(port_ipv4(device, port));
		break;
	case AF_INET6:
		port_ipv6(device, port, address->in6.sin6_addr.s6_addr);
		break;
	default:
		port_gid(device, port, 0, address->ib.gid);
		address->ib.pkey = CM_PKEY;
		break;
	}
}

void cm_addr_gid(const struct cm_id *id, const struct hca_device *device, uint8_t port,
		 uint8_t gid[16])
{
	port_gid(device, port, port_gid_index(device->machine, id->src.family), gid);
}

void cm_addr_vector(const struct cm_id *id, const uint8_t dgid[16], struct ib_uverbs_ah_attr *attr)
{
	attr->port_num = id->port;
	attr->is_global = 1;
	attr->grh.sgid_index = port_gid_index(id->device->machine, id->src.family);
	attr->grh.hop_limit = 1;
	memcpy(attr->grh.dgid, dgid, sizeof(attr->grh.dgid));
}

void cm_addr_vector_to_peer(const struct cm_id *id, struct ib_uverbs_ah_attr *attr)
{
	uint8_t dgid[16];

	attr->port_num = id->port;
	attr->dlid = port_lid(id->dst_device, id->dst_port);
	if (!id->device->machine->settings.ethernet)
		return;
	cm_addr_gid(id, id->dst_device, id->dst_port, dgid);
	cm_addr_vector(id, dgid, attr);
}

/* rdma_cm puts IP addresses before the private data. */
size_t cm_addr_room(const struct cm_id *id, size_t room)
{
	return id->src.family == CM_AF_IB ? room : room - CMA_HEADER;
}

_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
	       "both IP addresses have the port in one place");

uint16_t cm_addr_port(const union cm_address *address)
{
	if (address->family == CM_AF_IB)
		return (uint16_t)(be64toh(address->ib.sid) & be64toh(address->ib.sid_mask));
	return ntohs(address->in.sin_port);
}

void cm_addr_set_port(union cm_address *address, uint16_t port)
{
	if (address->family == CM_AF_IB)
		address->ib.sid = htobe64(SPACE(be64toh(address->ib.sid)) | port);
	else
		address->in.sin_port = htons(port);
}

/* By AF_IB an id of the port space IB may use all spaces, every other id only its own. */
uint64_t cm_addr_service(const struct cm_id *id, const union cm_address *address)
{
	uint64_t space;

	if (address->family != CM_AF_IB)
		return (uint64_t)id->ps << 16 | cm_addr_port(address);
	space = be64toh(address->ib.sid) >> 16;
	if (space != id->ps &&
	    (id->ps != RDMA_PS_IB || (space != RDMA_PS_TCP && space != RDMA_PS_UDP)))
		return 0;
	return be64toh(address->ib.sid);
}
