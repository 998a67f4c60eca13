/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The files of a table directory: which ones can be trusted, and removing those of dead processes.
 *
 * Other users can plant files under our names. So files are examined before they are opened, and
 * only files of this user are read.
 */
#include "regtab_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GC_LIMIT	16

/* root sees the files of all users. */
int regtab_has_name(const struct dirent *entry)
{
	size_t prefix = strlen(REGTAB_PREFIX);
	char *end;
	unsigned long user;

	if (strncmp(entry->d_name, REGTAB_PREFIX, prefix))
		return 0;
	user = strtoul(entry->d_name + prefix, &end, 10);
	return *end == '-' && (user == geteuid() || !geteuid());
}

static int check_trust(const struct stat *st, const char **reason)
{
	*reason = NULL;
	if (!S_ISREG(st->st_mode))
		*reason = "it is not a regular file";
	else if (st->st_uid != geteuid() && geteuid())
		*reason = "it belongs to another user";
	else if (st->st_mode & 077)
		*reason = "others may read or write it";
	else if (st->st_nlink != 1)
		*reason = "it has several names";
	return *reason ? -EPERM : 0;
}

/* The file is examined before it is opened: opening a device or a pipe may have effects. */
int regtab_open_found(struct regtab_found *found, int flags)
{
	struct stat st;
	int err;

	found->reason = "it cannot be examined";
	if (lstat(found->path, &found->st))
		return -errno;
	err = check_trust(&found->st, &found->reason);
	if (err)
		return err;
	found->fd = open(found->path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (found->fd < 0) {
		found->reason = "it cannot be opened";
		return -errno;
	}
	if (!fstat(found->fd, &st) && st.st_dev == found->st.st_dev &&
	    st.st_ino == found->st.st_ino && st.st_nlink)
		return 0;
	close(found->fd);
	return -ENOENT;	/* removed or replaced meanwhile */
}

/* The magic is written last. A file without it is of a process that died while it made the file. */
static bool may_remove(int fd)
{
	uint64_t magic = 0;
	ssize_t length = pread(fd, &magic, sizeof(magic), 0);

	return !length || (length == sizeof(magic) && (!magic || magic == REGTAB_MAGIC));
}

int regtab_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int err = fcntl(fd, F_SETLK, &lock) ? -errno : 0;

	regtab_fault_point();
	return err == -EACCES ? -EAGAIN : err;
}

int regtab_unlink(const char *path, dev_t dev, ino_t ino)
{
	struct stat st;
	int err = 0;

	if (!lstat(path, &st) && st.st_dev == dev && st.st_ino == ino)
		err = unlink(path) ? -errno : 0;
	regtab_fault_point();
	return err;
}

/* The lock proves that no process has the file: every version so far locks a byte of it or more. */
int regtab_remove_dead(struct regtab_found *found, bool dry_run)
{
	int err = regtab_lock(found->fd);

	found->reason = err == -EAGAIN ? "a process is using it"
				       : "the file system has no record locks";
	if (err)
		return err;
	found->reason = "it is not a registration table";
	if (!may_remove(found->fd))
		return -EPERM;
	found->reason = "it cannot be removed";
	err = dry_run ? 0 : regtab_unlink(found->path, found->st.st_dev, found->st.st_ino);
	if (!err)
		found->reason = "no process is using it";
	return err;
}

void regtab_gc(const char *dir)
{
	struct dirent **names;
	struct timespec now;
	int count = scandir(dir, &names, regtab_has_name, NULL);

	if (count < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);	/* to begin with a random file */
	for (int i = 0; i < count && i < GC_LIMIT; i++) {
		struct regtab_found found = { .fd = -1 };

		snprintf(found.path, sizeof(found.path), "%s/%s", dir,
			 names[(now.tv_nsec / 100 + i) % count]->d_name);
		if (!regtab_open_found(&found, O_RDWR)) {
			regtab_remove_dead(&found, false);
			close(found.fd);
		}
	}
	while (count)
		free(names[--count]);
	free(names);
}
