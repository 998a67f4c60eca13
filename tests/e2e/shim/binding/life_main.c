/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program that is linked to libibverbs. */

#include "life.h"

int main(void)
{
	return live();
}
