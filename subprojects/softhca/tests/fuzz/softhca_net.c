/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is sent to the other machine gets lost: no network is open. */
#include "softhca_hca.h"

#include <fabric/carrier.h>
#include <fabric/messages.h>

#include <stdlib.h>
#include <string.h>

void __wrap_carrier_send(struct fabric_parcel *parcel);

void __wrap_carrier_send(struct fabric_parcel *parcel)
{
	messages_done(parcel, true);
}

void fuzz_deliver(void (*handler)(int, const void *, size_t), const void *bytes, size_t length)
{
	void *copy = malloc(length ? length : 1);

	need(copy != NULL, "no memory");
	memcpy(copy, bytes, length);
	handler(FUZZ_FAR, copy, length);
	free(copy);
}
