/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the library's settings once. */
#include "settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TABLE_DIR "/dev/shm"

static struct settings current = { .table_dir = DEFAULT_TABLE_DIR };

/* NULL: not set, or empty. */
static const char *get_variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

static enum two_way_setting two_way_of(const char *value)
{
	if (!value || !strcmp(value, "auto"))
		return TWO_WAY_AUTO;
	if (!strcmp(value, "on"))
		return TWO_WAY_ON;
	return strcmp(value, "off") ? TWO_WAY_UNKNOWN : TWO_WAY_OFF;
}

static void read_all(void)
{
	const char *verbose = get_variable("XRC_COMPAT_VERBOSE");
	const char *two_way = get_variable("XRC_COMPAT_TWO_WAY");
	const char *dir = get_variable("XRC_COMPAT_TABLE_DIR");
	char *copy = dir ? strdup(dir) : NULL;

	current.verbose = verbose && *verbose != '0';
	current.two_way = two_way_of(two_way);
	snprintf(current.two_way_text, sizeof(current.two_way_text), "%s", two_way ? two_way : "");
	if (copy)
		current.table_dir = copy;
}

const struct settings *settings(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_all);
	return &current;
}
