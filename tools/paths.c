// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Finds this installation's own files, so that a build tree, a moved prefix and a package all work without settings. */
#include "paths.h"
#include "tools_config.h"

#include <errno.h>
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

/* The directory @levels above the running command ("" when it cannot be known); no trailing slash. */
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
		return; /* such a path cannot be opened anyway */
	for (size_t i = 0; i < candidates->count; i++) {
		if (!strcmp(candidates->path[i], slot))
			return;
	}
	candidates->count++;
}

void paths_library(struct path_candidates *candidates)
{
	const char *chosen = getenv("XRC_COMPAT_LIBRARY");
	char prefix[PATH_MAX];

	candidates->count = 0;
	if (chosen && chosen[0]) {
		/* A relative LD_PRELOAD would break at the first program that changes its directory and starts another. */
		if (chosen[0] == '/')
			add(candidates, "", chosen + 1);
		else if (getcwd(prefix, sizeof(prefix)))
			add(candidates, prefix, chosen);
		return;
	}
	own_prefix(prefix, sizeof(prefix), 1);
	add(candidates, prefix, "shim/" TOOLS_LIBRARY);
	add(candidates, prefix, TOOLS_LIBDIR_FROM_PREFIX "/" TOOLS_LIBRARY);
	add(candidates, TOOLS_LIBDIR, TOOLS_LIBRARY);
}

void paths_softhca(struct path_candidates *candidates)
{
	char prefix[PATH_MAX];

	candidates->count = 0;
	own_prefix(prefix, sizeof(prefix), 1);
	add(candidates, prefix, "softhca/softhca");
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

void paths_tracer(struct path_candidates *candidates)
{
	char prefix[PATH_MAX];

	candidates->count = 0;
	own_prefix(prefix, sizeof(prefix), 0);
	add(candidates, prefix, "trace/libxrc-trace.so");
	own_prefix(prefix, sizeof(prefix), 1);
	add(candidates, prefix, TOOLS_LIBDIR_FROM_PREFIX "/libxrc-trace.so");
	add(candidates, TOOLS_LIBDIR, "libxrc-trace.so");
}

const char *paths_table_directory(void)
{
	const char *chosen = getenv("XRC_COMPAT_TABLE_DIR");

	return chosen && chosen[0] ? chosen : "/dev/shm";
}

const char *paths_first(const struct path_candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++) {
		struct stat st;

		if (!stat(candidates->path[i], &st) && S_ISREG(st.st_mode) && !access(candidates->path[i], R_OK))
			return candidates->path[i];
	}
	return NULL;
}
