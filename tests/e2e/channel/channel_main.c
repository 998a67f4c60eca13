/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Completion channels as an old program uses them, row by row. enum owner in rig.h says what own
 * and joined are.
 *
 *	channel own|joined GROUP [PART_OF_NAME]
 */

#include <stdio.h>
#include <string.h>

#include "rig.h"

extern const struct group destroy_group, wake_group, ack_group, fork_group;

static const struct group *const groups[] = { &destroy_group, &wake_group, &ack_group, &fork_group,
					      NULL };

int main(int argc, char **argv)
{
	rig.owner = argc > 1 && !strcmp(argv[1], "joined") ? JOINED : OWN;
	return groups_main(groups, argc - 1, argv + 1);
}
