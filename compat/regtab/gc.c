/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tables of a directory: finding them, and removing the dead ones. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tab.h"

/* Looked at by name first, so that no device or pipe is opened. Registry locked. */
static int open_found(struct registry *registry, int flags, struct found_table *found)
{
	struct stat st;
	int err;

	found->reason = "it is gone";
	if (lstat(found->file.path, &found->st))
		return -errno;
	st = found->st;
	if (!geteuid())
		st.st_uid = 0;		/* root may look at, and clean up, everybody's */
	err = regtab_file_checks(&st, &found->reason);
	if (err)
		return err;
	found->file.own.dev = st.st_dev;
	found->file.own.ino = st.st_ino;
	found->file.own.fd = regtab_file_of_process(registry, st.st_dev, st.st_ino);
	found->own = found->file.own.fd >= 0;
	if (found->own)
		return 0;
	found->reason = "it cannot be opened";
	found->file.own.fd = open(found->file.path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (found->file.own.fd < 0)
		return -errno;
	if (own_fd_is_ours(&found->file.own))
		return 0;
	close(found->file.own.fd);
	found->reason = "it was replaced meanwhile";
	return -EAGAIN;
}

int regtab_each(const char *dir, int flags, int (*visit)(void *context, struct found_table *found, int err), void *context)
{
	struct dirent **names;
	int result = 0, count = scandir(dir, &names, NULL, alphasort);

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		struct registry *registry = regtab_registry_lock();
		struct found_table found = { .file.own.fd = -1 };
		int err;

		snprintf(found.file.path, sizeof(found.file.path), "%s/%s", dir, names[i]->d_name);
		if (registry && !result && !strncmp(names[i]->d_name, REGTAB_NAME_PREFIX, strlen(REGTAB_NAME_PREFIX))) {
			err = open_found(registry, flags, &found);
			result = visit(context, &found, err);
			if (!err && !found.own)
				close(found.file.own.fd);
		}
		if (registry)
			regtab_registry_unlock(registry);
		free(names[i]);
	}
	free(names);
	return result;
}

/* ---- removing the dead ---- */

struct collection {
	bool dry_run;
	void (*visit)(void *context, const char *path, enum regtab_verdict verdict, const char *reason);
	void *context;
	int removed;
};

static enum regtab_verdict collect(const struct collection *collection, struct found_table *found)
{
	int err = -EAGAIN;

	found->reason = "this process is using it";
	if (!found->own)
		err = regtab_file_remove_dead(&found->file, collection->dry_run, &found->reason);
	if (!err)
		return REGTAB_REMOVED;
	return err == -EAGAIN ? REGTAB_KEPT : REGTAB_LEFT_ALONE;
}

static int collect_file(void *context, struct found_table *found, int err)
{
	struct collection *collection = context;
	enum regtab_verdict verdict = err ? REGTAB_LEFT_ALONE : collect(collection, found);

	collection->removed += verdict == REGTAB_REMOVED;
	if (collection->visit)
		collection->visit(collection->context, found->file.path, verdict, found->reason);
	return 0;
}

/* An owner that was killed leaves the name of its socket, which is the table's with a dot before and a number behind. */
static void collect_sockets(const char *dir)
{
	struct dirent **names;
	int count = scandir(dir, &names, NULL, NULL);
	char table[512], path[512];
	struct stat st;

	for (int i = 0; i < count; i++) {
		const char *name = names[i]->d_name, *number = strrchr(name + 1, '.');

		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (!strncmp(name, "." REGTAB_NAME_PREFIX, strlen("." REGTAB_NAME_PREFIX)) && number) {
			snprintf(table, sizeof(table), "%s/%.*s", dir, (int)(number - name - 1), name + 1);
			if (lstat(table, &st) && !lstat(path, &st) && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
				unlink(path);
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

int regtab_gc(const char *dir, bool dry_run,
	      void (*visit)(void *context, const char *path, enum regtab_verdict verdict, const char *reason),
	      void *context)
{
	struct collection collection = { dry_run, visit, context, 0 };
	int err = regtab_each(dir, O_RDWR, collect_file, &collection);

	if (!err && !dry_run)
		collect_sockets(dir);
	return err ? err : collection.removed;
}
