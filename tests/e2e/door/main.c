/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An old program or plugin that gets its verbs by TABLE: program [WAY]. */

#include "calls.h"

static int call_by(const char *way)
{
	struct verbs verbs;

	TABLE(&verbs, way);
	make_calls(&verbs);
	return 0;
}

#ifdef PLUGIN
int plugin_main(void);

DOOR_VISIBLE int plugin_main(void)
{
	return call_by("");
}
#else
int main(int argc, char **argv)
{
	return call_by(argc > 1 ? argv[1] : "");
}
#endif
