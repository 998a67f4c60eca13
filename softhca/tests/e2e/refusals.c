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
	fprintf(stderr,
		"usage: refusals usual|strict|no-open-qp|no-xrc|beyond (the settings that the HCA runs with)\n");
	exit(EXIT_FAILURE);
}

bool refusals_apply(const struct refusals *run, int modes)
{
	return (modes & (int)run->mode) && !(modes & NOT_DRIVEN && getenv("SOFTHCA_TEST_DRIVEN"));
}

void refusals_judge(struct refusals *run, const char *name, int err, int wanted)
{
	run->ran++;
	if (err == wanted)
		return;
	run->failures++;
	printf("FAIL %s: got %s, the kernel has %s\n", name, strerrorname_np(err),
	       strerrorname_np(wanted));
}

int main(int argc, char **argv)
{
	struct refusals run = { .mode = find_mode(argc >= 2 ? argv[1] : "") };

	refusals_of_objects(&run);
	refusals_of_modify(&run);
	printf("%d rows, %d failures\n", run.ran, run.failures);
	return run.failures || !run.ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
