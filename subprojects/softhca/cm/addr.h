/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Addresses of the emulated ports, as programs and messages name them. */
#ifndef SOFTHCA_CM_ADDR_H
#define SOFTHCA_CM_ADDR_H

#include <machine/hca.h>

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <sys/socket.h>

struct cm_file;
struct cm_id;

/* AF_IB and its address: <infiniband/ib.h> has them, but belongs to librdmacm. */
#define CM_AF_IB 27

struct cm_sockaddr_ib {
	uint16_t family;
	uint16_t pkey;
	uint32_t flow_info;
	uint8_t gid[16];
	uint64_t sid, sid_mask; /* big endian */
	uint64_t scope_id;
};

union cm_address {
	uint16_t family;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct cm_sockaddr_ib ib;
	struct __kernel_sockaddr_storage storage;
};

/* Of every path. */
#define CM_PKEY 0xffffu
#define CM_PATH_LIFETIME 14 /* 4.096 us * 2^14 = 67 ms */
#define CM_ACK_TIMEOUT (CM_PATH_LIFETIME + 1) /* there and back */

/* An address of this family that says nothing: "all of mine". */
union cm_address cm_addr_none(uint16_t family);

/* Size of an address of this family, 0 when the family is unknown. */
size_t cm_addr_size(const union cm_address *address);

/* An address out of an older request, which has room for IP. False: of no known family. */
bool cm_addr_take_ip(union cm_address *address, const struct sockaddr_in6 *in);
/* An address out of a newer request, which says the size. */
bool cm_addr_take_storage(union cm_address *address, const struct __kernel_sockaddr_storage *in,
			  size_t size);

/* Whether it is the address of a group. */
bool cm_addr_multicast(const union cm_address *address);

/* Whether it is the address that means "all of mine". */
bool cm_addr_any(const union cm_address *address);

/* The port that has this address. False if none has. */
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

/* The private data for which a request of the id with @room bytes has room. */
size_t cm_addr_room(const struct cm_id *id, size_t room);

/* The number after the address, as programs give it; of AF_IB the lower bits of the service id. */
uint16_t cm_addr_port(const union cm_address *address);
void cm_addr_set_port(union cm_address *address, uint16_t port);

/* Port space and port that an address means for @id. 0: another port space's address. */
uint64_t cm_addr_service(const struct cm_id *id, const union cm_address *address);

#endif
