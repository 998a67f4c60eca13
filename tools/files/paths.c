/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds this installation's own files. */
#include "paths.h"
#include "preload.h"

#include <tools/text/memory.h>
#include <tools/tools_config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *paths_self(void)
{
	static const char *self;

	if (!self)
		self = realpath("/proc/self/exe", NULL);
	return self;
}

/* The directory @levels above the running command's. */
static const char *own_directory(int levels)
{
	char *path = copy_string(paths_self()), *slash;

	for (; levels >= 0 && (slash = strrchr(path, '/')); levels--)
		*slash = '\0';
	return path;
}

/* @path if that file is readable, and an ELF file of @bits unless that is 0; else NULL. */
static const char *found_at(const char *path, int bits)
{
	struct elf_info elf;

	if (access(path, R_OK) || (bits && (elf_info_read(path, &elf) || elf.bits != bits)))
		return NULL;
	return path;
}

/* The other word size is built in "build-i386" if this one is in "build", and vice versa. */
static const char *other_build(const char *build)
{
	const char *mark = strrchr(build, '-');

	if (mark && !strcmp(mark, "-i386"))
		return format_string("%.*s", (int)(mark - build), build);
	return format_string("%s-i386", build);
}

const char *paths_library(int bits, const char *in_build)
{
	const char *lib = preload_lib_dir(bits);
	/* The loader's value of $LIB comes first, so that the path serves both word sizes. */
	const char *const dirs[] = {
		lib ? lib : TOOLS_LIBDIR_FROM_PREFIX, TOOLS_LIBDIR_FROM_PREFIX,
		"lib/i386-linux-gnu", "lib/x86_64-linux-gnu", "lib32", "lib64", "lib",
	};
	const char *name = basename(in_build), *prefix = own_directory(1);
	const char *build = bits == OWN_BITS ? prefix : other_build(prefix);
	const char *found = found_at(format_string("%s/%s", build, in_build), bits);

	for (size_t i = 0; !found && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		found = found_at(format_string("%s/%s/xrc-compat/%s", prefix, dirs[i], name), bits);
	return found ? found
		     : found_at(format_string("%s/xrc-compat/%s", TOOLS_LIBDIR, name), bits);
}

static const char *choose_shim(int bits)
{
	static const char in_build[] = "shim/libxrc-compat.so.1";
	const char *chosen = getenv("XRC_COMPAT_LIBRARY"), *found, *dir;

	if (!chosen || !chosen[0]) {
		found = paths_library(bits, in_build);
		return found ? found : paths_library(OWN_BITS, in_build);
	}
	if (chosen[0] == '/')
		return chosen;
	/* A relative LD_PRELOAD breaks when a program changes its directory and starts another. */
	dir = getcwd(NULL, 0);
	return dir ? format_string("%s/%s", dir, chosen) : chosen;
}

/* The loader only warns of what it cannot preload, so this looks before. */
const char *paths_shim(int bits, const char **path, struct elf_info *elf)
{
	*path = choose_shim(bits);
	if (!*path)
		return "libxrc-compat.so.1 was not found: xrc-compat is not installed completely";
	if (!preload_can_hold(*path))
		return format_string("%s: LD_PRELOAD cannot hold a path with a colon, a blank or a '$'",
				     *path);
	if (access(*path, R_OK))
		return format_string("%s: %s", *path, strerror(errno));
	if (elf_info_read(*path, elf) || !elf->is_library)
		return format_string("%s: is not a shared library", *path);
	return NULL;
}

/* In the build directory, at its place relative to this command, or where it was installed. */
static const char *first_of(const char *in_build, const char *relative, const char *installed)
{
	const char *found = found_at(in_build, 0);

	found = found ? found : found_at(relative, 0);
	return found ? found : found_at(installed, 0);
}

const char *paths_softhca(void)
{
	return first_of(format_string("%s/subprojects/softhca/bin/softhca", own_directory(1)),
			format_string("%s/softhca", own_directory(0)), TOOLS_BINDIR "/softhca");
}

const char *paths_helper(const char *in_build)
{
	const char *name = basename(in_build);

	return first_of(format_string("%s/%s", own_directory(0), in_build),
			format_string("%s/%s/%s", own_directory(1), TOOLS_LIBEXECDIR_FROM_PREFIX,
				      name),
			format_string("%s/%s", TOOLS_LIBEXECDIR, name));
}
