/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the library's settings. */
#include "settings.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

struct settings settings;

static enum two_way_setting two_way_of(const char *value)
{
	if (!value || !*value || !strcmp(value, "auto"))
		return TWO_WAY_AUTO;
	if (!strcmp(value, "on"))
		return TWO_WAY_ON;
	if (!strcmp(value, "off"))
		return TWO_WAY_OFF;
	log_line("XRC_COMPAT_TWO_WAY=%s is none of auto, on, off: taken as auto", value);
	return TWO_WAY_AUTO;
}

bool settings_flag(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value && *value != '0';
}

void settings_read(void)
{
	settings.verbose = settings_flag("XRC_COMPAT_VERBOSE");
	settings.two_way = two_way_of(secure_getenv("XRC_COMPAT_TWO_WAY"));
}
