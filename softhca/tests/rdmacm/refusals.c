/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What librdmacm and the connection manager refuse, one row per refusal with its errno. */
#include "ground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void refusals_judge(struct refusals *run, const char *name, int err, int wanted)
{
	run->ran++;
	if (err == wanted)
		return;
	run->failures++;
	printf("FAIL %s: got %s, expected %s\n", name, err ? strerrorname_np(err) : "success",
	       wanted ? strerrorname_np(wanted) : "success");
}

int main(void)
{
	struct refusals run = { 0 };

	refusals_of_ids(&run);
	refusals_of_connections(&run);
	printf("%d rows, %d failures\n", run.ran, run.failures);
	return run.failures || !run.ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
