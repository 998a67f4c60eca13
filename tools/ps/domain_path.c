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

	return !statx(dir_fd, name, AT_STATX_DONT_SYNC, STATX_INO, &st) &&
	       st.stx_ino == key->st_ino &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) == key->st_dev;
}

static bool find_in_process(uint32_t pid, const struct regtab_key *key, char *path)
{
	struct dirent *entry;
	char name[64];
	ssize_t length = -1;
	DIR *stream;

	snprintf(name, sizeof(name), "/proc/%u/fd", pid);
	stream = opendir(name);
	while (stream && length < 0 && (entry = readdir(stream))) {
		if (entry->d_name[0] != '.' && is_domain(dirfd(stream), entry->d_name, key))
			length = readlinkat(dirfd(stream), entry->d_name, path, PATH_MAX - 1);
	}
	if (stream)
		closedir(stream);
	if (length >= 0)
		path[length] = '\0';
	return length >= 0;
}

bool domain_path_find(const struct regtab_view *view, char *path)
{
	bool found = false;

	for (unsigned i = 0; i < view->member_count && !found; i++) {
		if (view->members[i].live && !view->members[i].foreign)
			found = find_in_process(view->members[i].pid, &view->key, path);
	}
	return found;
}
