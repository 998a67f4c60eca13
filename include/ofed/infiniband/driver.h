/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What programs, as opposed to drivers, took from OFED's <infiniband/driver.h>. Old drivers cannot work with today's
 * library, so nothing else of it is here; configure scripts ask whether the XRC verbs are declared through it.
 */
#ifndef INFINIBAND_DRIVER_H
#define INFINIBAND_DRIVER_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Path of sysfs, without a slash at the end. */
const char *ibv_get_sysfs_path(void);

/* The number of bytes read from dir/file, a newline at the end taken off; -1 with errno. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

/* Keep memory from being copied to a forked child, and the reverse. 0, or a positive errno. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

#ifdef __cplusplus
}
#endif

#endif
