/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opened devices. Closing one ends its domains, SRQ images and registrations (contract 5.7). */
#ifndef COMPAT_DEVICE_H
#define COMPAT_DEVICE_H

#include <infiniband/verbs.h>

/** device_use_begin - the program opens its first domain: from now on the library handles verbs and forks (state_in_use()). */
void device_use_begin(void);

/** device_close - free the library's objects of this device, then close it. -errno of the real close. */
int device_close(struct ibv_context *context);

#endif
