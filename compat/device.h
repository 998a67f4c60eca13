/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opened devices. Closing one ends its domains, SRQ images and registrations (contract 5.7). */
#ifndef COMPAT_DEVICE_H
#define COMPAT_DEVICE_H

#include <infiniband/verbs.h>

/* Frees the library's objects of this device, then closes it. Returns the -errno of the close. */
int device_close(struct ibv_context *context);

#endif
