/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The part of OFED's <infiniband/driver.h> that programs use. The rest was for drivers, which
 * cannot work with today's library. Configure scripts include this header to check whether the XRC
 * verbs are declared.
 */
#ifndef INFINIBAND_DRIVER_H
#define INFINIBAND_DRIVER_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The path of sysfs, without a slash at the end. */
const char *ibv_get_sysfs_path(void);

/* Returns the number of bytes read from dir/file, without a newline at the end; -1 with errno. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

/* Keep memory from being copied to a forked child, and the reverse. 0, or -1. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

#ifdef __cplusplus
}
#endif

#endif
