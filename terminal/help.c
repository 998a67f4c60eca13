/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tells a command's own words from those of the program that it launches. */
#include "help.h"

#include <string.h>

bool help_wanted(char *const *words, bool launches)
{
	for (; *words && strcmp(*words, "--") && !(launches && **words != '-'); words++) {
		if (!strcmp(*words, "--help"))
			return true;
	}
	return false;
}
