/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the words of a request. */
#include "request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hca_device *request_device(struct request *request, const char *name)
{
	struct hca_machine *machine = request->machine;

	for (int i = 0; i < machine->settings.devices; i++) {
		if (!strcmp(machine->device[i].name, name))
			return &machine->device[i];
	}
	fprintf(request->out, "no device %s\n", name);
	return NULL;
}

bool request_number(const char *word, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(word, &end, 0);
	return word[0] >= '0' && word[0] <= '9' && !*end && !errno && *number <= most;
}

int request_usage(const struct request *request)
{
	const char *words = request->command->words;

	fprintf(request->out, "%s takes %s: %s\n", request->command->name,
		words[0] ? words : "no argument", request->command->help);
	return -EINVAL;
}
