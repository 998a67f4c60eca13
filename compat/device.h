/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opened devices. Closing one ends its domains, SRQ images and registrations (contract 5.7). */
#ifndef COMPAT_DEVICE_H
#define COMPAT_DEVICE_H

#include <infiniband/verbs.h>

/**
 * device_use_begin - the program opens its first domain: handle verbs and forks from now on. This
 * stays so if the open fails, because another thread may open a domain at the same time.
 */
void device_use_begin(void);

/** device_close - free the library's objects of this device, then close it. The close's -errno. */
int device_close(struct ibv_context *context);

#endif
