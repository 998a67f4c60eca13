/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One frame of a backtrace: the module that an address is in. */
#include "internal.h"

#include <dlfcn.h>
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
static const struct link_map *map_of(uintptr_t ip)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1((void *)(ip - 1), &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static bool is_below_program(const struct link_map *map, uintptr_t in_shim)
{
	return map == map_of((uintptr_t)trace_frame + 1) || map == map_of(in_shim);
}

struct trace_frame *trace_frame(struct trace_record *record, uintptr_t ip, uintptr_t in_shim)
{
	const struct link_map *map = map_of(ip);
	struct trace_frame *frame = &record->frames[record->frame_count];

	if (record->frame_count == TRACE_FRAMES || (!record->frame_count && is_below_program(map, in_shim)))
		return NULL;
	record->frame_count++;
	*frame = (struct trace_frame){ .ip = ip, .offset = ip - 1 - (map ? map->l_addr : 0) };
	if (map)
		module_name(map, frame->module, sizeof(frame->module));
	return frame;
}
