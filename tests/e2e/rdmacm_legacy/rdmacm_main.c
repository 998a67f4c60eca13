/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that is linked with librdmacm too, row by row.
 *
 *	rdmacm-legacy qp|srq
 */

#include "ids.h"

extern const struct group qp_group, srq_group;

static const struct group *const groups[] = { &qp_group, &srq_group, NULL };

int main(int argc, char **argv)
{
	return groups_main(groups, argc, argv);
}
