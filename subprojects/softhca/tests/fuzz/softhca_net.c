/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is sent to the other machine gets lost: no network is open. */
#include "softhca_hca.h"

#include <fabric/carrier.h>
#include <fabric/messages.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t fuzz_sent;
int fuzz_reached;

int __wrap_carrier_open(const struct carrier_plan *plan, char *why, size_t size);
const void *__wrap_carrier_address(size_t *length);
int __wrap_carrier_reach(int machine, const void *address, size_t length);
void __wrap_carrier_leave(int machine);
void __wrap_carrier_send(struct fabric_parcel *parcel);
void __wrap_fabric_send(struct fabric_parcel *parcel, size_t length);

int __wrap_carrier_open(const struct carrier_plan *plan, char *why, size_t size)
{
	(void)plan;
	(void)why;
	(void)size;
	return 0;
}

const void *__wrap_carrier_address(size_t *length)
{
	static const uint8_t address[FUZZ_ADDRESS];

	*length = sizeof(address);
	return address;
}

int __wrap_carrier_reach(int machine, const void *address, size_t length)
{
	(void)address;
	must(length <= CARRIER_ADDRESS, "an address that is too long");
	if (length != FUZZ_ADDRESS)
		return -EINVAL;
	fuzz_reached = machine;
	return 0;
}

void __wrap_carrier_leave(int machine)
{
	(void)machine;
}

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

	must(copy != NULL, "no memory");
	memcpy(copy, bytes, length);
	handler(FUZZ_FAR, copy, length);
	free(copy);
}
