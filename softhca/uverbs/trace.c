// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* The commands that programs gave: the last ones are always known, all of them are in a file if one was asked for. */
#include "trace.h"
#include "cmd.h"

#include <softhca/cm/cmd.h>

#include <string.h>

#define CM (-1)

struct entry {
	pid_t pid;
	int device; /* CM = the connection manager */
	uint32_t command;
	int result;
};

static struct entry ring[TRACE_LENGTH];
static uint64_t noted;

static void print(FILE *out, const struct entry *entry)
{
	const char *result = entry->result ? strerrorname_np(-entry->result) : "ok";

	if (entry->device == CM)
		fprintf(out, "rdma_cm pid %d %s: %s\n", (int)entry->pid, cm_cmd_name(entry->command), result);
	else
		fprintf(out, "mlx4_%d pid %d %s: %s\n", entry->device, (int)entry->pid, cmd_name(entry->command), result);
}

static void note(FILE *file, const struct entry *entry)
{
	ring[noted++ % TRACE_LENGTH] = *entry;
	if (!file)
		return;
	print(file, entry);
	fflush(file);
}

void trace_note(const struct hca_context *ctx, uint32_t command, int result)
{
	note(ctx->device->machine->trace, &(struct entry){ ctx->pid, ctx->device->index, command, result });
}

void trace_note_cm(const struct cm_file *file, uint32_t command, int result)
{
	note(file->machine->trace, &(struct entry){ file->pid, CM, command, result });
}

void trace_print(FILE *out, unsigned int count)
{
	uint64_t known = noted < TRACE_LENGTH ? noted : TRACE_LENGTH;
	uint64_t first = noted - (count < known ? count : known);

	for (uint64_t at = first; at < noted; at++)
		print(out, &ring[at % TRACE_LENGTH]);
}
