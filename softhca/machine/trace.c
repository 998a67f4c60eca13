/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The commands that programs gave: the last ones are always known, all of them are in a file if one
 * was asked for.
 */
#include "trace.h"

#include <softhca/base/refuse.h>

#include <string.h>

struct entry {
	pid_t pid;
	char device[DEVICE_NAME_MAX];
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

static void note(FILE *file, const struct entry *entry)
{
	ring[noted++ % TRACE_LENGTH] = *entry;
	if (!file)
		return;
	print(file, entry);
	fflush(file);
}

static void note_command(FILE *file, struct entry *entry, const char *reason)
{
	strcpy(entry->reason, reason);
	note(file, entry);
}

void trace_note(const struct hca_device *device, pid_t pid, const char *name, int result,
		const char *reason)
{
	struct entry entry = { .pid = pid, .name = name, .result = result };

	device_name(device, entry.device);
	note_command(device->machine->trace, &entry, reason);
}

void trace_note_cm(const struct hca_machine *machine, pid_t pid, const char *name, int result,
		   const char *reason)
{
	struct entry entry = { .pid = pid, .device = "rdma_cm", .name = name, .result = result };

	note_command(machine->trace, &entry, reason);
}

void trace_print(FILE *out, unsigned int count)
{
	uint64_t known = noted < TRACE_LENGTH ? noted : TRACE_LENGTH;
	uint64_t first = noted - (count < known ? count : known);

	for (uint64_t at = first; at < noted; at++)
		print(out, &ring[at % TRACE_LENGTH]);
}
