/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Datagrams on the wire. */
#ifndef SOFTHCA_DATAGRAM_H
#define SOFTHCA_DATAGRAM_H

#include "attempt.h"

/*
 * Sends one. It is SENT even if it was lost on the way; only errors at the sender make it FAILED.
 */
enum outcome datagram_execute(struct attempt *attempt);

#endif
