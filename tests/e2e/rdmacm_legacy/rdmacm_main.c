/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that is also linked with librdmacm, row by row.
 *
 *	rdmacm-legacy qp|srq
 */

#include "ids.h"

int main(int argc, char **argv)
{
	return rows_main(argc, argv);
}
