/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The callers of a verb: the C library walks the stack, and the command finds the names. No system
 * call is made for either.
 */
#include "record.h"

#include <execinfo.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

static bool has(const struct dl_phdr_info *info, uintptr_t address)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD &&
		    address - (info->dlpi_addr + header->p_vaddr) < header->p_memsz)
			return true;
	}
	return false;
}

static int name_modules(struct dl_phdr_info *info, size_t size, void *context)
{
	struct trace_record *record = context;
	/* The main program has no name in the loader's list. */
	const char *path = info->dlpi_name[0] ? info->dlpi_name : trace_program_path;

	(void)size;
	for (uint32_t i = 0; i < record->frame_count; i++) {
		struct trace_frame *frame = &record->frames[i];

		if (frame->module[0] || !has(info, (uintptr_t)frame->offset))
			continue;
		frame->offset -= info->dlpi_addr;
		memcpy(frame->module, path, strnlen(path, sizeof(frame->module) - 1));
	}
	return 0;
}

void trace_stack(struct trace_record *record)
{
	void *returns[TRACE_FRAMES];
	int count = backtrace(returns, TRACE_FRAMES);

	/* A return address is behind its call, and may belong to the next line or function. */
	for (int i = 0; i < count; i++)
		record->frames[i].offset = (uintptr_t)returns[i] - 1;
	record->frame_count = (uint32_t)count;
	dl_iterate_phdr(name_modules, record);
}
