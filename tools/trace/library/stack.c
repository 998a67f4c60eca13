/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The callers of a verb: the C library walks the stack, and the command finds the names. No system
 * call is made for either.
 */
#include "internal.h"

#include <execinfo.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#define DEPTH 48	/* as many as are sent, and those below the program */

/* The module that an address is in. */
struct module {
	const char *path;	/* NULL: none */
	uintptr_t bias;
};

struct walk {
	uintptr_t address[DEPTH];
	struct module module[DEPTH];
	size_t count;
};

static void bounds(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high)
{
	*low = UINTPTR_MAX;
	*high = 0;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
			  end = start + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		*low = start < *low ? start : *low;
		*high = end > *high ? end : *high;
	}
}

static int find_modules(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	uintptr_t low, high;

	(void)size;
	bounds(info, &low, &high);
	for (size_t i = 0; i < walk->count; i++) {
		if (walk->address[i] >= low && walk->address[i] < high)
			walk->module[i] = (struct module){ info->dlpi_name, info->dlpi_addr };
	}
	return 0;
}

static void add_frame(struct trace_record *record, uintptr_t address, const struct module *module)
{
	struct trace_frame *frame = &record->frames[record->frame_count++];
	/* The main program has no name in the loader's list. */
	const char *path = !module->path ? "" : module->path[0] ? module->path : trace_program;

	*frame = (struct trace_frame){ .offset = address - module->bias };
	memcpy(frame->module, path, strnlen(path, sizeof(frame->module) - 1));
}

void trace_stack(struct trace_record *record, uintptr_t in_shim)
{
	/* A return address is behind its call, and may belong to the next line or function. */
	struct walk walk = { .address = { (uintptr_t)trace_stack, in_shim - 1 }, .count = 2 };
	void *returns[DEPTH - 2];
	int count = backtrace(returns, DEPTH - 2);

	for (int i = 0; i < count; i++)
		walk.address[walk.count++] = (uintptr_t)returns[i] - 1;
	dl_iterate_phdr(find_modules, &walk);
	for (size_t i = 2; i < walk.count && record->frame_count < TRACE_FRAMES; i++) {
		bool below = walk.module[i].path && (walk.module[i].path == walk.module[0].path ||
						     walk.module[i].path == walk.module[1].path);

		if (record->frame_count || !below)
			add_frame(record, walk.address[i], &walk.module[i]);
	}
}
