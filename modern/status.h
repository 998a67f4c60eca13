/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The results of today's verbs as 0 or a negative errno. */
#ifndef MODERN_STATUS_H
#define MODERN_STATUS_H

#include <errno.h>

/* @ret: the result of a verb that returns a positive errno, or -1 with errno set. */
static inline int modern_status(int ret)
{
	if (ret < 0)
		return errno > 0 ? -errno : -EIO;
	return -ret;
}

/*
 * The status of a verb that has just returned NULL. Some providers leave errno alone, so the caller
 * clears it before the verb.
 */
static inline int modern_null_status(void)
{
	return errno > 0 ? -errno : -EINVAL;
}

#endif
