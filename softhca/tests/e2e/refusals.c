/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the kernel refuses, one row per refusal with its errno, over the modern API. */
#include "ground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum mode find_mode(const char *name)
{
	static const char *const names[] = { "usual", "strict", "no-open-qp", "no-xrc", "beyond" };

	for (int i = 0; i < 5; i++) {
		if (!strcmp(names[i], name))
			return (enum mode)(1 << i);
	}
	fprintf(stderr, "usage: refusals usual|strict|no-open-qp|no-xrc|beyond (the settings that the HCA runs with)\n");
	exit(EXIT_FAILURE);
}

/* True if the row holds. */
static bool attempt(const struct refusal *row, enum mode mode)
{
	struct ground ground = ground_lay(mode != NO_XRC);
	int error = row->attempt(&ground);

	ground_clear(&ground);
	if (error == row->error)
		return true;
	printf("FAIL %s: got %s, the kernel has %s\n", row->name, strerrorname_np(error), strerrorname_np(row->error));
	return false;
}

int main(int argc, char **argv)
{
	const struct refusal *const tables[] = { refusals_of_objects, refusals_of_modify };
	enum mode mode = find_mode(argc >= 2 ? argv[1] : "");
	int failures = 0, ran = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct refusal *row = tables[i]; row->name; row++) {
			if (!(row->modes & (int)mode) || (row->modes & NOT_DRIVEN && getenv("SOFTHCA_TEST_DRIVEN")))
				continue;
			failures += !attempt(row, mode);
			ran++;
		}
	}
	printf("%d rows, %d failures\n", ran, failures);
	return failures || !ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
