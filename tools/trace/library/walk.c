/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Walks the stack of a traced call, and finds the file that each frame is in. */
#include "record.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* The first members of glibc's struct dl_find_object. Those of other CPUs have room in the rest. */
struct found_object {
	unsigned long long flags;
	void *start, *end;
	struct link_map *map;
	void *rest[16];
};

/* Both backtrace() and libunwind's unw_backtrace(). */
typedef int (*walk_fn)(void **returns, int size);
typedef int (*find_fn)(void *address, struct found_object *found);

static walk_fn walk;
static find_fn find_object;	/* NULL: glibc before 2.35 */
char trace_program[256];

/*
 * From the file on, and in no scope that the program searches: libunwind also exports backtrace()
 * and the functions that throw C++ exceptions. If it were linked, a plugin that is opened with
 * RTLD_LOCAL would throw through libunwind instead of through libgcc_s.
 */
static walk_fn find_walk(void)
{
	walk_fn found = NULL;
#ifdef TRACE_LIBUNWIND
	void *libunwind = dlopen(TRACE_LIBUNWIND, RTLD_NOW | RTLD_LOCAL);

	if (libunwind)
		found = (walk_fn)dlsym(libunwind, "unw_backtrace");
#endif
	return found ? found : backtrace;
}

/*
 * backtrace() loads libgcc_s in its first call, and libunwind allocates with mmap(). So the first
 * walk is made here. The thread's next walks allocate nothing. libunwind asks the loader about an
 * address that it meets for the first time, with all signals blocked; it remembers the others, and
 * takes no lock for them.
 */
void trace_prepare_walk(void)
{
	void *returns[TRACE_FRAMES];

	if (readlink("/proc/self/exe", trace_program, sizeof(trace_program) - 1) < 0)
		trace_program[0] = '\0';
	find_object = (find_fn)dlsym(RTLD_DEFAULT, "_dl_find_object");
	walk = find_walk();
	walk(returns, TRACE_FRAMES);
}

/*
 * The main program has no name in the loader's list. Frames of one file are mostly neighbours.
 * @earlier: NULL, or a frame of the same file, which has been named.
 */
static void name_frame(struct trace_record *record, struct trace_frame *frame, const char *path,
		       uintptr_t base, const struct trace_frame *earlier)
{
	frame->offset -= base;
	frame->module = earlier ? earlier->module
				: trace_put_string(record, path[0] ? path : trace_program);
}

/* ---- for glibc before 2.35: takes the loader's lock ---- */

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

static int name_frames(struct dl_phdr_info *info, size_t size, void *context)
{
	struct trace_record *record = context;
	const struct trace_frame *earlier = NULL;

	(void)size;
	for (uint32_t i = 0; i < record->frame_count; i++) {
		struct trace_frame *frame = &record->frames[i];

		if (frame->module || !has(info, (uintptr_t)frame->offset))
			continue;
		name_frame(record, frame, info->dlpi_name, info->dlpi_addr, earlier);
		earlier = frame;
	}
	return 0;
}

/* ---- a traced call ---- */

/* Code that the program has generated is in no file, so its frame stays without a name. */
static void name_frames_without_lock(struct trace_record *record)
{
	const struct trace_frame *earlier = NULL;
	const struct link_map *map = NULL;
	struct found_object found;

	for (uint32_t i = 0; i < record->frame_count; i++) {
		struct trace_frame *frame = &record->frames[i];

		/* The code is on the stack of this thread, so the program does not unload it. */
		if (find_object((void *)(uintptr_t)frame->offset, &found))
			continue;
		name_frame(record, frame, found.map->l_name, found.map->l_addr,
			   found.map == map ? earlier : NULL);
		earlier = frame;
		map = found.map;
	}
}

void trace_walk(struct trace_record *record)
{
	void *returns[TRACE_FRAMES];
	int count = walk(returns, TRACE_FRAMES);

	record->frame_count = (uint32_t)(count > 0 ? count : 0);
	/* A return address is behind its call, and may belong to the next line or function. */
	for (uint32_t i = 0; i < record->frame_count; i++)
		record->frames[i] = (struct trace_frame){ (uintptr_t)returns[i] - 1, 0 };
	if (find_object)
		name_frames_without_lock(record);
	else
		dl_iterate_phdr(name_frames, record);
}
