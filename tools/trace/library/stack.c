/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Who called: walked with libunwind, which needs no frame pointers and names static functions too. */
#define UNW_LOCAL_ONLY
#include "internal.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

static void module_name(const struct link_map *map, char *name, size_t size)
{
	const char *source = map->l_name;
	char path[PATH_MAX];
	ssize_t length;

	/* The main program has no name in the loader's list. */
	if (!source[0]) {
		length = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = '\0';
		source = path;
	}
	length = (ssize_t)strnlen(source, size - 1);
	memcpy(name, source, (size_t)length);
	name[length] = '\0';
}

/* A return address is behind its call, and may belong to the next line or function. */
static void describe(unw_cursor_t *cursor, uint64_t ip, const struct link_map *map, struct trace_frame *frame)
{
	unw_word_t offset = 0;

	frame->ip = ip;
	frame->offset = ip - 1 - (map ? map->l_addr : 0);
	if (unw_get_proc_name(cursor, frame->symbol, sizeof(frame->symbol), &offset))
		frame->symbol[0] = '\0';
	frame->symbol_offset = offset;
	frame->module[0] = '\0';
	if (map)
		module_name(map, frame->module, sizeof(frame->module));
}

static const struct link_map *map_of(uint64_t ip)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1((void *)(uintptr_t)(ip - 1), &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

void trace_stack(struct trace_record *record)
{
	const struct link_map *own = map_of((uint64_t)(uintptr_t)trace_stack + 1);
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;

	record->frame_count = 0;
	if (unw_getcontext(&context) || unw_init_local(&cursor, &context))
		return;
	do {
		const struct link_map *map;

		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || !ip)
			return;
		map = map_of(ip);
		if (map != own)
			describe(&cursor, ip, map, &record->frames[record->frame_count++]);
	} while (record->frame_count < TRACE_FRAMES && unw_step(&cursor) > 0);
}
