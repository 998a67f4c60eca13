/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ports: link layer, the tables that programs see, and which port an address leads to. */
#ifndef SOFTHCA_PORT_H
#define SOFTHCA_PORT_H

#include "hca.h"

#define PORT_GIDS 16 /* places in the table */

/* LIDs of multicast groups. All groups of Ethernet have the first one, on the wire only. */
#define PORT_FIRST_GROUP 0xc000u
#define PORT_LAST_GROUP	 0xfffeu

/* The QP number that stands for all members of a group. */
#define PORT_EVERY_MEMBER 0xffffffu

/* Physical states, of the kernel's enum ib_port_phys_state. */
enum { PORT_POLLING = 2, PORT_LINK_UP = 5 };

enum gid_type { GID_NONE, GID_IB, GID_ROCE_V1, GID_ROCE_V2 };

/* LIDs as programs see them: 0 on Ethernet. struct hca_port has the wire's number. */
uint16_t port_lid(const struct hca_device *device, uint8_t port);
uint16_t port_sm_lid(struct hca_machine *machine);

/* port_cap_flags */
uint32_t port_capabilities(const struct hca_machine *machine);

/* As enum ibv_mtu: of a port that is up, and of each path. */
uint8_t port_mtu(const struct hca_machine *machine);

/* Places in the P_Key table. The first one is the default P_Key, the others are empty. */
uint16_t port_pkeys(const struct hca_machine *machine);

/* IPv4, host byte order. */
uint32_t port_ipv4(const struct hca_device *device, uint8_t port);
void port_ipv6(const struct hca_device *device, uint8_t port, uint8_t address[16]);

/* An entry of the GID table; all zeroes for an empty one. */
enum gid_type port_gid(const struct hca_device *device, uint8_t port, unsigned int index,
		       uint8_t gid[16]);

/* The GID index of an IP address of this family: of RoCE v2 if there is one, as in the kernel. */
uint8_t port_gid_index(const struct hca_machine *machine, int family);

/* The number of a port or of a group on the wire; 0 = no port has the GID. */
uint16_t port_behind(struct hca_machine *machine, const uint8_t gid[16]);

bool port_is_group(const uint8_t gid[16]);
bool port_is_ipv4(const uint8_t gid[16]);

/* Fills in the destination's LID on Ethernet, where a datagram finds its receiver by the GID. */
void port_route(struct hca_machine *machine, struct av *av);

/* The Ethernet address of a port. */
void port_own_mac(const struct hca_device *device, uint8_t port, uint8_t mac[6]);

/* The Ethernet address for @gid. False when no port has it. */
bool port_mac(struct hca_machine *machine, const uint8_t gid[16], uint8_t mac[6]);

#endif
