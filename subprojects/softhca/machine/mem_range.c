/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Whether the program has mapped the whole range. The kernel finds out by pinning it. */
#include "mem.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct area {
	uint64_t start, end;
	bool readable, writable;
};

/* "start-end rwxp ..." */
static bool parse_area(char *line, struct area *area)
{
	char *at;

	area->start = strtoull(line, &at, 16);
	if (*at++ != '-')
		return false;
	area->end = strtoull(at, &at, 16);
	if (*at++ != ' ')
		return false;
	area->readable = at[0] == 'r';
	area->writable = at[1] == 'w';
	return true;
}

/* The areas of a process stand in rising order: the range is walked with them. */
static int walk(FILE *maps, uint64_t start, uint64_t end, bool writable)
{
	char *line = NULL;
	size_t room = 0;
	int err = -EFAULT;

	while (getline(&line, &room, maps) > 0) {
		struct area area;

		if (!parse_area(line, &area) || area.end <= start)
			continue;
		if (area.start > start || !area.readable || (writable && !area.writable))
			break;
		start = area.end;
		if (start >= end) {
			err = 0;
			break;
		}
	}
	free(line);
	return err;
}

static int walk_thread(const struct hca_context *ctx, pid_t thread, uint64_t start, uint64_t end,
		       bool writable)
{
	char path[64];
	FILE *maps;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", (int)ctx->client.pid, (int)thread);
	maps = fopen(path, "re");
	if (!maps)
		return -EFAULT;
	err = walk(maps, start, end, writable);
	fclose(maps);
	return err;
}

int mem_check_range(const struct hca_context *ctx, uint64_t start, uint64_t length, bool writable)
{
	pid_t thread = ctx->client.pid;
	int err = walk_thread(ctx, thread, start, start + length, writable);

	/* The maps of a thread without memory are empty. */
	while (err && !process_has_memory(thread) && (thread = process_thread(ctx->client.pid)))
		err = walk_thread(ctx, thread, start, start + length, writable);
	return err;
}
