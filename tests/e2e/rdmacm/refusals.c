/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What librdmacm and the connection manager refuse, one row per refusal with its errno. */
#include "ground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the row holds. */
static bool attempt(const struct refusal *row)
{
	struct ground ground;
	int error;

	ground_lay(&ground);
	error = row->attempt(&ground);
	ground_clear(&ground);
	if (error == row->error)
		return true;
	printf("FAIL %s: got %s, expected %s\n", row->name, error ? strerrorname_np(error) : "success",
	       row->error ? strerrorname_np(row->error) : "success");
	return false;
}

int main(void)
{
	const struct refusal *const tables[] = { refusals_of_ids, refusals_of_connections };
	int failures = 0, ran = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct refusal *row = tables[i]; row->name; row++, ran++)
			failures += !attempt(row);
	}
	printf("%d rows, %d failures\n", ran, failures);
	return failures || !ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
