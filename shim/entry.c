/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The first call: finds libibverbs, prints the banner. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <compat/log.h>
#include <modern/modern.h>

#include "shim.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void banner(void)
{
	const char *path = modern_library_path();
	const char *version = strstr(path, ".so.");

	log_line("version %s, libibverbs %s (%s), doors: preload", XRC_COMPAT_VERSION, version ? version + 4 : "?", path);
}

static void first_call(void)
{
	if (modern_load())
		log_line("no usable libibverbs.so.1: %s not found; install the distribution's libibverbs",
			 modern_missing());
	else
		banner();
}

int shim_ready(void)
{
	int saved_errno = errno;

	pthread_once(&once, first_call);
	errno = saved_errno;
	return modern_load();
}
