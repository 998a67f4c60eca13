/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Completion channels as an old program uses them, row by row. enum owner in rig.h says what own and joined are.
 *
 *	channel GROUP own|joined
 */

#include <stdio.h>
#include <string.h>

#include "rig.h"

extern const struct group destroy_group, wake_group, ack_group, fork_group;

static const struct group *const groups[] = { &destroy_group, &wake_group, &ack_group, &fork_group };
static const char *const owners[OWNERS] = { "own", "joined" };

int main(int argc, char **argv)
{
	int owner = argc == 3 && !strcmp(argv[2], owners[JOINED]) ? JOINED : OWN;

	for (unsigned i = 0; argc == 3 && i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i]->name, argv[1]))
			return rows_run(groups[i], owner, owners[owner]);
	fprintf(stderr, "usage: channel GROUP own|joined\n");
	return 2;
}
