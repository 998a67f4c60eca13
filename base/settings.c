/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the library's settings. */
#include "settings.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

struct settings settings;

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
	if (!strcmp(value, "off"))
		return TWO_WAY_OFF;
	log_line("XRC_COMPAT_TWO_WAY=%s is none of auto, on, off: taken as auto", value);
	return TWO_WAY_AUTO;
}

void settings_read(void)
{
	const char *verbose = get_variable("XRC_COMPAT_VERBOSE");

	settings.verbose = verbose && *verbose != '0';
	settings.two_way = two_way_of(get_variable("XRC_COMPAT_TWO_WAY"));
}
