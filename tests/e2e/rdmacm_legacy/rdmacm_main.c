/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that is linked with librdmacm too, row by row.
 *
 *	rdmacm-legacy qp|srq
 */

#include <stdio.h>
#include <string.h>

#include "ids.h"

extern const struct group qp_group, srq_group;

static const struct group *const groups[] = { &qp_group, &srq_group };

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc == 2 && i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i]->name, argv[1]))
			return rows_run(groups[i], 0, groups[i]->name);
	fprintf(stderr, "usage: rdmacm-legacy qp|srq\n");
	return 2;
}
