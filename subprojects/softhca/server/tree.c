/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Makes the files, links and directories of the device tree. */
#include "tree.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_directory(const char *path)
{
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

/* Makes the directories of @path. Most are there, so this begins with the innermost. */
static int make_directories(char *path)
{
	char *slash = strrchr(path, '/');
	int err;

	*slash = '\0';
	err = make_directory(path);
	if (err == -ENOENT) {
		err = make_directories(path);
		err = err ? err : make_directory(path);
	}
	*slash = '/';
	return err;
}

void tree_path(struct tree *tree, const char *dir, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s/%s", tree->root, dir, name);
	if (!tree->err)
		tree->err = make_directories(path);
}

void tree_attr(struct tree *tree, const char *dir, const char *name, const char *format, ...)
{
	char path[PATH_MAX], early[PATH_MAX + sizeof(".new")];
	va_list args;
	FILE *file;

	tree_path(tree, dir, name, path);
	snprintf(early, sizeof(early), "%s%s", path, tree->again ? ".new" : "");
	file = tree->err ? NULL : fopen(early, "we");
	if (!file) {
		tree->err = tree->err ? tree->err : -errno;
		return;
	}
	va_start(args, format);
	if (vfprintf(file, format, args) < 0 || fputc('\n', file) == EOF)
		tree->err = -EIO;
	va_end(args);
	if (fclose(file) && !tree->err)
		tree->err = -errno;
	if (tree->again && !tree->err && rename(early, path))
		tree->err = -errno;
}

void tree_link(struct tree *tree, const char *dir, const char *name, const char *target)
{
	char path[PATH_MAX];

	tree_path(tree, dir, name, path);
	if (!tree->err && symlink(target, path))
		tree->err = -errno;
}

void tree_directory(struct tree *tree, const char *dir)
{
	char path[PATH_MAX];

	tree_path(tree, dir, "", path);
}
