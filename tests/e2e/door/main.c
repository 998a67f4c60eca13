/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An old program or plugin that gets its verbs by TABLE: program [WAY]. */

#include "calls.h"

#ifdef PLUGIN
int plugin_main(void);

DOOR_VISIBLE int plugin_main(void)
{
	const char *way = "";
#else
int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
#endif
	struct verbs verbs;

	TABLE(&verbs, way);
	make_calls(&verbs);
	return 0;
}
