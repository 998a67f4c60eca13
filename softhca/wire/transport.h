/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One work request on the wire: from a sender's memory to whatever answers at the other end. */
#ifndef SOFTHCA_TRANSPORT_H
#define SOFTHCA_TRANSPORT_H

#include "attempt.h"

#define TRANSPORT_MAX_MESSAGE 0x40000000u

/*
 * Longest piece of a message that is moved at once: others wait meanwhile. A multiple of every MTU.
 * To the wire's faults a piece is one packet.
 */
#define TRANSPORT_PIECE ((uint64_t)256 << 10)

/* Sends the next piece of the request. */
enum outcome transport_execute(struct attempt *attempt);

#endif
