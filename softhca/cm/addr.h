/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Addresses of the emulated ports, as the connection manager names them. */
#ifndef SOFTHCA_CM_ADDR_H
#define SOFTHCA_CM_ADDR_H

#include "cm.h"

/* An address of this family that says nothing: "all of mine". */
union cm_address cm_addr_none(uint16_t family);

/* Size of an address of this family, 0 when the family is unknown. */
size_t cm_addr_size(const union cm_address *address);

/*
 * An address out of a request: the older commands have room for IP only. False when it is of no
 * known family.
 */
bool cm_addr_take_ip(union cm_address *address, const struct sockaddr_in6 *in);
/* The newer ones say the size. */
bool cm_addr_take_storage(union cm_address *address, const struct __kernel_sockaddr_storage *in,
			  size_t size);

/* That of a group. */
bool cm_addr_multicast(const union cm_address *address);

/* The address that means "all of mine". */
bool cm_addr_any(const union cm_address *address);

/* Whose address it is. False when no port has it. */
bool cm_addr_find(const struct cm_file *file, const union cm_address *address,
		  struct hca_device **device, uint8_t *port);

/* True when programs of this file are on the host of @device. */
bool cm_addr_local(const struct cm_file *file, const struct hca_device *device);

/* The address of a port, of the family of @address, into it; what else it holds stays. */
void cm_addr_set(union cm_address *address, const struct hca_device *device, uint8_t port);

/* The GID by which an id knows a port: on Ethernet that of the IP address. */
void cm_addr_gid(const struct cm_id *id, const struct hca_device *device, uint8_t port,
		 uint8_t gid[16]);

/* An address vector to @dgid; to the id's peer, with a GRH on Ethernet only. */
void cm_addr_vector(const struct cm_id *id, const uint8_t dgid[16], struct ib_uverbs_ah_attr *attr);
void cm_addr_vector_to_peer(const struct cm_id *id, struct ib_uverbs_ah_attr *attr);

/* The number after the address, as programs give it; of AF_IB the lower bits of the service id. */
uint16_t cm_addr_port(const union cm_address *address);
void cm_addr_set_port(union cm_address *address, uint16_t port);

/*
 * The service id that an address of @id means: port space, then port. 0 when the id's port space
 * does not go with the address.
 */
uint64_t cm_addr_service(const struct cm_id *id, const union cm_address *address);

#endif
