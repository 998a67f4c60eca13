// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* The commands that programs gave: the last ones are always known, all of them are in a file if one was asked for. */
#include "trace.h"

#include <string.h>

#define CM (-1)

struct entry {
	pid_t pid;
	int device; /* CM = the connection manager */
	const char *name;
	int result;
};

static struct entry ring[TRACE_LENGTH];
static uint64_t noted;

static void print(FILE *out, const struct entry *entry)
{
	const char *result = entry->result ? strerrorname_np(-entry->result) : "ok";

	if (entry->device == CM)
		fprintf(out, "rdma_cm pid %d %s: %s\n", (int)entry->pid, entry->name, result);
	else
		fprintf(out, "mlx4_%d pid %d %s: %s\n", entry->device, (int)entry->pid, entry->name, result);
}

static void note(FILE *file, const struct entry *entry)
{
	ring[noted++ % TRACE_LENGTH] = *entry;
	if (!file)
		return;
	print(file, entry);
	fflush(file);
}

void trace_note(const struct hca_device *device, pid_t pid, const char *name, int result)
{
	note(device->machine->trace, &(struct entry){ pid, device->index, name, result });
}

void trace_note_cm(const struct hca_machine *machine, pid_t pid, const char *name, int result)
{
	note(machine->trace, &(struct entry){ pid, CM, name, result });
}

void trace_print(FILE *out, unsigned int count)
{
	uint64_t known = noted < TRACE_LENGTH ? noted : TRACE_LENGTH;
	uint64_t first = noted - (count < known ? count : known);

	for (uint64_t at = first; at < noted; at++)
		print(out, &ring[at % TRACE_LENGTH]);
}
