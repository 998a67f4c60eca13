/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The providers of libibverbs: the libraries that drive its devices. */
#ifndef TOOLS_PROVIDERS_H
#define TOOLS_PROVIDERS_H

#include <tools/aside/devices.h>

/* "rdma-core 44", or what else is known of the release. */
const char *libibverbs_release_name(const char *path);

/* A device that the kernel has and libibverbs does not list. */
struct undriven {
	const char *fault;	/* NULL: there is none */
	const char *advice;
};

/*
 * Compares the kernel's devices with @list, which the libibverbs at @library has given. If several
 * are missing in the list, takes a device whose kind has XRC. @wanted: only this device; NULL: any.
 */
struct undriven find_undriven(const char *library, const struct device_list *list,
			      const char *wanted);

#endif
