/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Without the headers of libfabric there is one machine on the wire. */
#include "carrier.h"

#include <errno.h>
#include <stdio.h>

int carrier_open(const struct carrier_plan *plan, char *why, size_t size)
{
	(void)plan;
	snprintf(why, size, "this softhca was built without the headers of libfabric: install them "
		 "(libfabric-dev or libfabric-devel), `meson setup --wipe` the build, and build again");
	return -ENOTSUP;
}

const char *carrier_provider(void)
{
	return "";
}

const void *carrier_address(size_t *length)
{
	*length = 0;
	return "";
}

int carrier_reach(int machine, const void *address, size_t length)
{
	(void)machine;
	(void)address;
	(void)length;
	return -ENOTSUP;
}

void carrier_leave(int machine)
{
	(void)machine;
}

void carrier_send(struct fabric_parcel *parcel)
{
	(void)parcel;
}

uint64_t carrier_nap(void)
{
	return UINT64_MAX;
}

bool carrier_sends(void)
{
	return false;
}

void carrier_close(void)
{
}

void carrier_retry(void)
{
}
