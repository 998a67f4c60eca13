/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* main() of the programs that only have rows. */
#include "row.h"

int main(int argc, char **argv)
{
	return rows_main(argc, argv);
}
