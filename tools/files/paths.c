/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds this installation's own files. */
#include "paths.h"
#include "preload.h"
#include "tools/tools_config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *paths_self(void)
{
	return realpath("/proc/self/exe", NULL);
}

/* The directory @levels above the running command's; "" when it cannot be known. */
static const char *own_prefix(int levels)
{
	char *path = paths_self(), *slash;

	for (; path && levels >= 0 && (slash = strrchr(path, '/')); levels--)
		*slash = '\0';
	return path ? path : "";
}

/* The first of the places with something readable; with an ELF file of @bits, unless that is 0. */
static const char *first_of(const struct string_list *places, int bits)
{
	for (size_t i = 0; i < places->count; i++) {
		struct elf_info elf;

		if (!access(places->item[i], R_OK) &&
		    (!bits || (!elf_info_read(places->item[i], &elf) && elf.bits == bits)))
			return places->item[i];
	}
	return NULL;
}

static void add_in(struct string_list *places, const char *dir, const char *name)
{
	const char *path = format_string("%s/xrc-compat/%s", dir, name);

	if (!string_list_has(places, path))
		string_list_add(places, path);
}

/*
 * The other word size is built in "build-i386" if this one is in "build", and the other way round.
 */
static const char *other_build(const char *build)
{
	const char *mark = strrchr(build, '-');

	if (mark && !strcmp(mark, "-i386"))
		return format_string("%.*s", (int)(mark - build), build);
	return format_string("%s-i386", build);
}

const char *paths_library(int bits, const char *in_build)
{
	static const char *const dirs[] = {
		TOOLS_LIBDIR_FROM_PREFIX, "lib/i386-linux-gnu", "lib/x86_64-linux-gnu", "lib32",
		"lib64", "lib",
	};
	const char *name = basename(in_build), *prefix = own_prefix(1), *lib = lib_dir(bits);
	const char *build = bits == OWN_BITS ? prefix : other_build(prefix);
	struct string_list places = { 0 };

	string_list_add(&places, format_string("%s/%s", build, in_build));
	/* With the loader's value of $LIB, so that the path serves both word sizes. */
	if (lib)
		add_in(&places, format_string("%s/%s", prefix, lib), name);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		add_in(&places, format_string("%s/%s", prefix, dirs[i]), name);
	add_in(&places, TOOLS_LIBDIR, name);
	return first_of(&places, bits);
}

const char *paths_shim(int bits)
{
	static const char in_build[] = "shim/" TOOLS_LIBRARY;
	const char *chosen = getenv("XRC_COMPAT_LIBRARY"), *found;
	char dir[PATH_MAX] = "";

	if (!chosen || !chosen[0]) {
		found = paths_library(bits, in_build);
		return found ? found : paths_library(OWN_BITS, in_build);
	}
	/*
	 * A relative LD_PRELOAD breaks when a program changes its directory and starts another one.
	 */
	if (chosen[0] != '/' && !getcwd(dir, sizeof(dir)))
		return NULL;
	return format_string("%s%s%s", dir, dir[0] ? "/" : "", chosen);
}

const char *paths_softhca(void)
{
	struct string_list places = { 0 };

	string_list_add(&places, format_string("%s/subprojects/softhca/bin/softhca", own_prefix(1)));
	string_list_add(&places, format_string("%s/softhca", own_prefix(0)));
	string_list_add(&places, TOOLS_BINDIR "/softhca");
	return first_of(&places, 0);
}

const char *paths_helper(const char *in_build)
{
	const char *name = basename(in_build);
	struct string_list places = { 0 };

	string_list_add(&places, format_string("%s/%s", own_prefix(0), in_build));
	string_list_add(&places, format_string("%s/" TOOLS_LIBEXECDIR_FROM_PREFIX "/%s",
					       own_prefix(1), name));
	string_list_add(&places, format_string(TOOLS_LIBEXECDIR "/%s", name));
	return first_of(&places, 0);
}

const char *paths_table_directory(void)
{
	const char *chosen = getenv("XRC_COMPAT_TABLE_DIR");

	return chosen && chosen[0] ? chosen : "/dev/shm";
}

/* The loader only warns of what it cannot preload. */
const char *paths_preload_fault(const char *path, struct elf_info *elf)
{
	if (!path)
		return "libxrc-compat.so.1 was not found: xrc-compat is not installed completely";
	if (!preload_can_hold(path))
		return format_string("%s: LD_PRELOAD cannot hold a path with a colon, a blank or a '$'",
				     path);
	if (access(path, R_OK))
		return format_string("%s: %s", path, strerror(errno));
	if (elf_info_read(path, elf) || !elf->is_library)
		return format_string("%s: is not a shared library", path);
	return NULL;
}
