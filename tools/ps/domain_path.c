/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the file of a domain. A table has only its inode, but most programs keep the file open. */
#include "domain_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Asks for cached attributes only: a dead file server does not answer. */
static bool is_domain(int dir_fd, const char *name, const struct regtab_key *key)
{
	struct statx st;

	return !statx(dir_fd, name, AT_STATX_DONT_SYNC | AT_EMPTY_PATH, STATX_INO, &st) &&
	       st.stx_ino == key->st_ino &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) == key->st_dev;
}

/*
 * By the link in /proc, which needs no name. Does not open devices and pipes: that may have an
 * effect.
 */
static int open_again(int dir_fd, const char *name, const struct regtab_key *key)
{
	struct stat st;
	int fd;

	if (!is_domain(dir_fd, name, key) || fstatat(dir_fd, name, &st, 0) ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return -1;
	fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		fd = openat(dir_fd, name, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || is_domain(fd, "", key))
		return fd;
	close(fd);
	return -1;
}

/* As open_again(); with @path only its name is read. */
static int find_entry(int dir_fd, const char *name, const struct regtab_key *key, char *path)
{
	ssize_t length;

	if (!path)
		return open_again(dir_fd, name, key);
	length = is_domain(dir_fd, name, key) ? readlinkat(dir_fd, name, path, PATH_MAX - 1) : -1;
	if (length >= 0)
		path[length] = '\0';
	return length >= 0 ? 0 : -1;
}

static int find_in_process(uint32_t pid, const struct regtab_key *key, char *path)
{
	struct dirent *entry;
	char name[64];
	int result = -1;
	DIR *stream;

	snprintf(name, sizeof(name), "/proc/%u/fd", pid);
	stream = opendir(name);
	while (stream && result < 0 && (entry = readdir(stream))) {
		if (entry->d_name[0] != '.')
			result = find_entry(dirfd(stream), entry->d_name, key, path);
	}
	if (stream)
		closedir(stream);
	return result;
}

static int find_path(const struct regtab_view *view, char *path)
{
	int result = -1;

	for (unsigned i = 0; i < view->member_count && result < 0; i++) {
		if (view->members[i].live && !view->members[i].foreign)
			result = find_in_process(view->members[i].pid, &view->key, path);
	}
	return result;
}

bool domain_path_find(const struct regtab_view *view, char *path)
{
	return !find_path(view, path);
}

int domain_open(const struct regtab_view *view)
{
	return find_path(view, NULL);
}
