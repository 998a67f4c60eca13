/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Runs the rows of one group. */
#include "ground.h"

static const struct row *current;

static void run_on_ground(void)
{
	ground_lay();
	current->run();
	ground_clear();
}

int main(int argc, char **argv)
{
	const struct row on_ground = { .run = run_on_ground };
	bool good = true, any = false;

	for (current = row_first(); argc > 1 && current; current = current->next) {
		if (strcmp(current->group, argv[1]) != 0)
			continue;
		good &= row_run(&on_ground, current->name);
		any = true;
	}
	return any && good ? 0 : 1;
}
