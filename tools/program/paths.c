/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Finds this installation's own files, so that a build tree, a moved prefix and a package all work
 * without settings.
 */
#include "paths.h"
#include "elf_info.h"
#include "elf/lib_folder.h"
#include "tools/tools_config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int paths_self(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size - 1);

	if (length < 0)
		return -errno;
	path[length] = '\0';
	return 0;
}

/*
 * The directory @levels above the running command ("" when it cannot be known); no trailing slash.
 */
static void own_prefix(char *directory, size_t size, int levels)
{
	if (paths_self(directory, size))
		directory[0] = '\0';
	for (; levels >= 0 && directory[0]; levels--) {
		char *slash = strrchr(directory, '/');

		if (!slash)
			break;
		*slash = '\0';
	}
}

static void add(struct path_candidates *candidates, const char *directory, const char *name)
{
	char *slot;
	int length;

	if (candidates->count == PATHS_MAX_CANDIDATES)
		return;
	slot = candidates->path[candidates->count];
	length = snprintf(slot, PATH_MAX, "%s/%s", directory, name);
	if (length <= 0 || length >= PATH_MAX)
		return; /* open() would refuse such a path */
	for (size_t i = 0; i < candidates->count; i++) {
		if (!strcmp(candidates->path[i], slot))
			return;
	}
	candidates->count++;
}

/* The library @name in @libdir below @prefix. */
static void add_in(struct path_candidates *candidates, const char *prefix, const char *libdir,
		   const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/xrc-compat/%s", libdir, name) < sizeof(path))
		add(candidates, prefix, path);
}

/*
 * Where a library of ours for programs of this command's word size may be. @in_build: its place in
 * a build directory.
 */
static void own_library(const char *in_build, struct path_candidates *candidates)
{
	const char *name = strrchr(in_build, '/') + 1;
	char prefix[PATH_MAX], folder[PATH_MAX];

	candidates->count = 0;
	own_prefix(prefix, sizeof(prefix), 1);
	add(candidates, prefix, in_build);
	/*
	 * With this loader's value of $LIB, so that the path serves both word sizes on every
	 * distribution.
	 */
	if (!loader_lib(LOADER_LIB_OWN_BITS, folder, sizeof(folder)))
		add_in(candidates, prefix, folder, name);
	snprintf(folder, sizeof(folder), TOOLS_LIBDIR_FROM_PREFIX "/%s", name);
	add(candidates, prefix, folder);
	add(candidates, TOOLS_LIBDIR, name);
}

void paths_library(struct path_candidates *candidates)
{
	const char *chosen = getenv("XRC_COMPAT_LIBRARY");
	char folder[PATH_MAX];

	own_library("shim/" TOOLS_LIBRARY, candidates);
	if (!chosen || !chosen[0])
		return;
	candidates->count = 0;
	/*
	 * A relative LD_PRELOAD breaks when a program changes its directory and starts another one.
	 */
	if (chosen[0] == '/')
		add(candidates, "", chosen + 1);
	else if (getcwd(folder, sizeof(folder)))
		add(candidates, folder, chosen);
}

/*
 * The other word size is built in "build-i386" if this one is in "build", and the other way round.
 */
static void other_build(const char *build, char *other, size_t size)
{
	static const char mark[] = "-i386";
	size_t length = strlen(build), tail = sizeof(mark) - 1;

	if (length > tail && !strcmp(build + length - tail, mark))
		snprintf(other, size, "%.*s", (int)(length - tail), build);
	else
		snprintf(other, size, "%s%s", build, mark);
}

void paths_softhca(struct path_candidates *candidates)
{
	char prefix[PATH_MAX];

	candidates->count = 0;
	own_prefix(prefix, sizeof(prefix), 1);
	add(candidates, prefix, "softhca/bin/softhca");
	own_prefix(prefix, sizeof(prefix), 0);
	add(candidates, prefix, "softhca");
	add(candidates, TOOLS_BINDIR, "softhca");
}

void paths_helper(const char *in_build, struct path_candidates *candidates)
{
	const char *name = strrchr(in_build, '/') + 1;
	char prefix[PATH_MAX];

	candidates->count = 0;
	own_prefix(prefix, sizeof(prefix), 0);
	add(candidates, prefix, in_build);
	own_prefix(prefix, sizeof(prefix), 1);
	if (strlen(prefix) + sizeof(TOOLS_LIBEXECDIR_FROM_PREFIX) < sizeof(prefix)) {
		strcat(prefix, "/" TOOLS_LIBEXECDIR_FROM_PREFIX);
		add(candidates, prefix, name);
	}
	add(candidates, TOOLS_LIBEXECDIR, name);
}

const char *paths_table_directory(void)
{
	const char *chosen = getenv("XRC_COMPAT_TABLE_DIR");

	return chosen && chosen[0] ? chosen : "/dev/shm";
}

/*
 * The loader splits LD_PRELOAD at colons and blanks and expands '$'. A file that is no library gets
 * only a warning.
 */
const char *paths_preload_fault(const char *path, const struct elf_info *elf)
{
	if (strpbrk(path, ": \t\n$"))
		return "a path with a colon, a blank or a '$' cannot stand in LD_PRELOAD";
	return elf_info_is_library(elf) ? NULL : "is not a shared library";
}

static bool readable_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK);
}

/* The first readable ELF file of @bits. */
static const char *first_of(int bits, const struct path_candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++) {
		struct elf_info elf;
		bool fits;

		if (!readable_file(candidates->path[i]) || elf_info_read(candidates->path[i], &elf))
			continue;
		fits = elf.bits == bits;
		elf_info_free(&elf);
		if (fits)
			return candidates->path[i];
	}
	return NULL;
}

const char *paths_first(const struct path_candidates *candidates)
{
	const char *fits = first_of(LOADER_LIB_OWN_BITS, candidates);

	for (size_t i = 0; !fits && i < candidates->count; i++) {
		if (readable_file(candidates->path[i]))
			fits = candidates->path[i];
	}
	return fits;
}

/*
 * Where a library for programs of the other word size may be. @in_build: its place in a build
 * directory.
 */
static void other_library(int bits, const char *in_build, struct path_candidates *candidates)
{
	static const char *const folders32[] = { "lib/i386-linux-gnu", "lib32", "lib" };
	static const char *const folders64[] = { "lib/x86_64-linux-gnu", "lib64", "lib" };
	const char *const *folders = bits == 64 ? folders64 : folders32;
	const char *name = strrchr(in_build, '/') + 1;
	char prefix[PATH_MAX - 64], folder[PATH_MAX];

	candidates->count = 0;
	own_prefix(prefix, sizeof(prefix), 1);
	other_build(prefix, folder, sizeof(folder));
	add(candidates, folder, in_build);
	if (!loader_lib(bits, folder, sizeof(folder)))
		add_in(candidates, prefix, folder, name);
	for (int i = 0; i < 3; i++)
		add_in(candidates, prefix, folders[i], name);
}

static const char *library_of(int bits, const char *in_build, struct path_candidates *candidates)
{
	if (bits == LOADER_LIB_OTHER_BITS)
		other_library(bits, in_build, candidates);
	else
		own_library(in_build, candidates);
	return first_of(bits, candidates);
}

const char *paths_library_of(int bits, struct path_candidates *candidates)
{
	const char *chosen = getenv("XRC_COMPAT_LIBRARY");
	const char *library = NULL;

	if (bits == LOADER_LIB_OTHER_BITS && !(chosen && chosen[0]))
		library = library_of(bits, "shim/" TOOLS_LIBRARY, candidates);
	if (library)
		return library;
	paths_library(candidates);
	return paths_first(candidates);
}

const char *paths_tracer_of(int bits, struct path_candidates *candidates)
{
	return library_of(bits, "tools/trace/library/" TOOLS_TRACER, candidates);
}

const char *paths_companion_of(int bits, const char *name, struct path_candidates *candidates)
{
	char in_build[NAME_MAX];

	snprintf(in_build, sizeof(in_build), "companions/%s", name);
	return library_of(bits, in_build, candidates);
}
