/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The network header of a packet: a GRH, or with RoCE v2 the header of IPv4 or IPv6. */
#ifndef SOFTHCA_GRH_H
#define SOFTHCA_GRH_H

#include "port.h"

#define GRH_BYTES 40u
#define UDP_BYTES 8u

/*
 * Fills in the header of a packet from a port to @av. @bytes are those from the BTH to the ICRC.
 * An IPv4 header is in the last 20 bytes. Returns the kind of the port's GID.
 */
enum gid_type grh_fill(const struct hca_device *device, uint8_t port, const struct av *av,
		       uint32_t bytes, uint8_t grh[GRH_BYTES]);

/* Whether grh_fill() has filled in an IPv4 header. */
bool grh_is_ipv4(const uint8_t grh[GRH_BYTES]);

#endif
