/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is sent to the other machine gets lost: no network is open. */
#include "softhca_hca.h"

#include <fabric/carrier.h>
#include <fabric/messages.h>

#include <stdlib.h>
#include <string.h>

size_t fuzz_sent;

void __wrap_carrier_send(struct fabric_parcel *parcel);
void __wrap_fabric_send(struct fabric_parcel *parcel, size_t length);

void __wrap_carrier_send(struct fabric_parcel *parcel)
{
	messages_done(parcel, true);
}

void __wrap_fabric_send(struct fabric_parcel *parcel, size_t length)
{
	fuzz_sent = length;
	fabric_release(parcel);
}

void fuzz_deliver(void (*handler)(int, const void *, size_t), const void *bytes, size_t length)
{
	void *copy = malloc(length ? length : 1);

	need(copy != NULL, "no memory");
	memcpy(copy, bytes, length);
	handler(FUZZ_FAR, copy, length);
	free(copy);
}
