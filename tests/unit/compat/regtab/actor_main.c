/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor as a program of its own: built for 32 bits, too. */

#include <stdlib.h>

#include "actor.h"

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	actor_perform(argv[1], (unsigned)atoi(argv[2]));
}
