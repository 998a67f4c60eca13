/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Walks the stack of a traced call, and finds the file that each frame is in. */
#include "record.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
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
char trace_program[PATH_MAX];

/*
 * backtrace() loads libgcc_s in its first call, and libunwind allocates with mmap(). So the first
 * walk is made here. The thread's next walks allocate nothing. libunwind asks the loader about an
 * address that it meets for the first time, with all signals blocked; it remembers the others, and
 * takes no lock for them.
 */
void trace_prepare_walk(void)
{
	void *returns[TRACE_FRAMES], *libunwind = NULL;

	if (readlink("/proc/self/exe", trace_program, sizeof(trace_program) - 1) < 0)
		trace_program[0] = '\0';
	find_object = (find_fn)dlsym(RTLD_DEFAULT, "_dl_find_object");
#ifdef TRACE_LIBUNWIND
	/*
	 * From the file on, and in no scope that the program searches: libunwind also exports
	 * backtrace() and the functions that throw C++ exceptions. If it were linked, a plugin that
	 * is opened with RTLD_LOCAL would throw through libunwind instead of through libgcc_s.
	 */
	libunwind = dlopen(TRACE_LIBUNWIND, RTLD_NOW | RTLD_LOCAL);
#endif
	walk = libunwind ? (walk_fn)dlsym(libunwind, "unw_backtrace") : NULL;
	walk = walk ? walk : backtrace;
	walk(returns, TRACE_FRAMES);
}

/* ---- the file of a frame ---- */

struct file {
	uintptr_t address, base;	/* of the code that is looked for, and of the file */
	const char *path;		/* the main program's is empty */
};

/* For dl_iterate_phdr(3), which takes the loader's lock: whether the file has the address. */
static int take_file(struct dl_phdr_info *info, size_t size, void *context)
{
	struct file *file = context;

	(void)size;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type != PT_LOAD ||
		    file->address - (info->dlpi_addr + header->p_vaddr) >= header->p_memsz)
			continue;
		file->base = info->dlpi_addr;
		file->path = info->dlpi_name;
		return true;
	}
	return false;
}

/* The code is on the stack of this thread, so the program does not unload it. */
static bool find_file(struct file *file)
{
	struct found_object found;

	if (!find_object)
		return dl_iterate_phdr(take_file, file);
	if (find_object((void *)file->address, &found))
		return false;
	file->base = found.map->l_addr;
	file->path = found.map->l_name;
	return true;
}

/* ---- a traced call ---- */

void trace_walk(struct trace_record *record)
{
	void *returns[TRACE_FRAMES];
	int count = walk(returns, TRACE_FRAMES);
	const char *path = NULL;
	uint32_t module = 0;

	record->frame_count = (uint32_t)(count > 0 ? count : 0);
	for (uint32_t i = 0; i < record->frame_count; i++) {
		/* A return address is behind its call, and may be the next line or function. */
		struct file file = { .address = (uintptr_t)returns[i] - 1 };

		/* Code that the program has generated is in no file, so its frame has no name. */
		record->frames[i] = (struct trace_frame){ file.address, 0 };
		if (!find_file(&file))
			continue;
		/* Frames of one file are mostly neighbours. */
		if (file.path != path)
			module = trace_put_string(record, file.path[0] ? file.path : trace_program);
		path = file.path;
		record->frames[i] = (struct trace_frame){ file.address - file.base, module };
	}
}
