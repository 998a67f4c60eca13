/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The sentence for what could not be started. */
#include "server.h"

#include <stdio.h>
#include <string.h>

int server_fail(char *why, size_t size, const char *what, int err)
{
	snprintf(why, size, "%.400s: %s", what, strerror(-err));
	return err;
}
