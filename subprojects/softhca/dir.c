/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's directory: its place, the names of its files, and the adapters in it. */
#include "dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

uid_t dir_user(void)
{
#ifdef SYS_geteuid32 /* i386 also has SYS_geteuid, for user ids of 16 bits */
	return (uid_t)syscall(SYS_geteuid32);
#else
	return (uid_t)syscall(SYS_geteuid);
#endif
}

static int checked(int length, size_t limit)
{
	return length < 0 || (size_t)length > limit ? -ENAMETOOLONG : 0;
}

bool dir_is_chosen(void)
{
	const char *chosen = getenv("SOFTHCA_DIR");

	return chosen && chosen[0];
}

int dir_default(char path[DIR_MAX + 1])
{
	const char *chosen = getenv("SOFTHCA_DIR");
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	/* The daemon works in the root directory: it and its clients must mean the same place. */
	if (dir_is_chosen() && chosen[0] != '/')
		return -EINVAL;
	if (dir_is_chosen())
		return checked(snprintf(path, DIR_MAX + 1, "%s", chosen), DIR_MAX);
	if (runtime && runtime[0] == '/')
		return checked(snprintf(path, DIR_MAX + 1, "%s/softhca", runtime), DIR_MAX);
	return checked(snprintf(path, DIR_MAX + 1, "/tmp/softhca-%u", (unsigned int)dir_user()),
		       DIR_MAX);
}

const char *dir_variable(void)
{
	return dir_is_chosen() ? "SOFTHCA_DIR" : "XDG_RUNTIME_DIR";
}

/* Not statx(2): containers of older Docker refuse it, and Linux before 4.11 lacks it. */
#ifdef SYS_newfstatat
#define STAT_CALL SYS_newfstatat
#else /* i386 */
#define STAT_CALL SYS_fstatat64
#endif

int dir_stat(int at, const char *path, struct stat64 *st, int flags)
{
	return syscall(STAT_CALL, at, path, st, flags) ? -errno : 0;
}

int dir_check(const char *path)
{
	struct stat64 st;
	/* Does not follow a link, which another user could have left in /tmp. */
	const int err = dir_stat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);

	if (err)
		return err;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid == dir_user() && !(st.st_mode & 077) ? 0 : -EPERM;
}

int dir_find(char path[DIR_MAX + 1])
{
	int err = dir_default(path);

	return err ? err : dir_check(path);
}

/* The preload interposes access(2), so the kernel is asked here, too. */
int dir_adapter(const char *directory, const char *word, char name[DIR_ADAPTER])
{
	char path[DIR_MAX + DIR_ADAPTER + 32], *number;

	if (strlen(word) >= DIR_ADAPTER || strpbrk(word, "/."))
		return -ENOENT;
	strcpy(name, word);
	for (char *at = name; (at = strchr(at, '-')); at++)
		*at = '_';
	number = strrchr(name, '_');
	snprintf(path, sizeof(path), "%s/" SOFTHCA_SYSFS "/class/infiniband/%s", directory, name);
	return number && !syscall(SYS_faccessat, AT_FDCWD, path, F_OK) ? atoi(number + 1) : -ENOENT;
}

int dir_join(char *path, size_t size, const char *directory, const char *name)
{
	return checked(snprintf(path, size, "%s/%s", directory, name), size - 1);
}
