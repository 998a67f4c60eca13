/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The libraries with which libibverbs drives its devices. */
#ifndef TOOLS_PROVIDERS_H
#define TOOLS_PROVIDERS_H

#include <tools/devices/devices.h>

/* Why libibverbs drives no device. */
struct driver_fault {
	const char *text;	/* NULL: there is none */
	const char *advice;	/* what to do about it */
};

/* closure_load_fault() of this libibverbs with its providers for adapters with XRC. */
struct driver_fault providers_load_fault(const char *libibverbs, const char *object);

/*
 * Why a device of the kernel is missing in @list, which the libibverbs at @library has given. If
 * several are, takes a device whose kind has XRC. @wanted: only this device; NULL: any.
 */
struct driver_fault providers_missing_device(const char *library, const struct device_list *list,
					     const char *wanted);

#endif
