/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Datagrams on the wire. */
#ifndef SOFTHCA_DATAGRAM_H
#define SOFTHCA_DATAGRAM_H

#include "attempt.h"

/* Sends one. It is SENT, wherever it may have been lost, unless something is wrong at home. */
enum outcome datagram_execute(struct attempt *attempt);

#endif
