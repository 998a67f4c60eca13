/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The last commands of programs; and all of them in a file, if one was asked for. */
#include "trace.h"
#include "hca.h"

#include <base/refuse.h>

#include <string.h>

struct entry {
	pid_t pid;
	const char *device;
	const char *name;
	int result;
	char reason[REFUSE_MAX];
};

static struct entry ring[TRACE_LENGTH];
static uint64_t noted;

static void print(FILE *out, const struct entry *entry)
{
	const char *result = entry->result ? strerrorname_np(-entry->result) : "ok";

	fprintf(out, "%s pid %d %s: %s", entry->device, (int)entry->pid, entry->name, result);
	if (entry->result && entry->reason[0])
		fprintf(out, " (%s)", entry->reason);
	fputc('\n', out);
}

void trace_note(const struct hca_machine *machine, const char *device, pid_t pid, const char *name,
		int result)
{
	struct entry *entry = &ring[noted++ % TRACE_LENGTH];

	*entry = (struct entry){ .pid = pid, .device = device, .name = name, .result = result };
	strcpy(entry->reason, refuse_reason());
	if (!machine->trace)
		return;
	print(machine->trace, entry);
	fflush(machine->trace);
}

void trace_print(FILE *out, unsigned int count)
{
	uint64_t known = noted < TRACE_LENGTH ? noted : TRACE_LENGTH;
	uint64_t first = noted - (count < known ? count : known);

	for (uint64_t at = first; at < noted; at++)
		print(out, &ring[at % TRACE_LENGTH]);
}
