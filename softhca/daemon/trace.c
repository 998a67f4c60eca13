// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* The commands that programs gave: the last ones are always known, all of them are in a file if one was asked for. */
#include "trace.h"
#include "cmd.h"

#include <string.h>

struct entry {
	pid_t pid;
	int device;
	uint32_t command;
	int result;
};

static struct entry ring[TRACE_LENGTH];
static uint64_t noted;

static void print(FILE *out, const struct entry *entry)
{
	fprintf(out, "mlx4_%d pid %d %s: %s\n", entry->device, (int)entry->pid, cmd_name(entry->command),
		entry->result ? strerrorname_np(-entry->result) : "ok");
}

void trace_note(const struct hca_context *ctx, uint32_t command, int result)
{
	struct entry *entry = &ring[noted++ % TRACE_LENGTH];
	FILE *file = ctx->device->machine->trace;

	*entry = (struct entry){ ctx->pid, ctx->device->index, command, result };
	if (!file)
		return;
	print(file, entry);
	fflush(file);
}

void trace_print(FILE *out, unsigned int count)
{
	uint64_t known = noted < TRACE_LENGTH ? noted : TRACE_LENGTH;
	uint64_t first = noted - (count < known ? count : known);

	for (uint64_t at = first; at < noted; at++)
		print(out, &ring[at % TRACE_LENGTH]);
}
