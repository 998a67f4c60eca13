/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* libmlx4 asks for the Ethernet address of a GID. The kernel knows no emulated wire. */
#include "client.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#define NO_VLAN 0xffff

__attribute__((visibility("default"))) int ibv_resolve_eth_l2_from_gid(struct ibv_context *context,
								       struct ibv_ah_attr *attr,
								       uint8_t eth_mac[6],
								       uint16_t *vid);

/* The emulated wire finds the receiver by its GID, so any address will do. */
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
				uint8_t eth_mac[6], uint16_t *vid)
{
	(void)context;
	if (!attr->is_global)
		return -EINVAL;
	memcpy(eth_mac, attr->grh.dgid.raw + 10, 6);
	if (vid)
		*vid = NO_VLAN;
	return 0;
}
