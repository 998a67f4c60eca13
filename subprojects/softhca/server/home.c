/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's directory. The kernel releases its lock, however the daemon ends. */
#include "server.h"

#include <dir.h>
#include <machine/hca.h>
#include <message.h>
#include <proto.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK	   "lock"
#define RUN_PREFIX "softhca-run-"
/* seconds: as long as the end of a killed daemon may take on a busy machine */
#define PATIENCE   20

/* ---- removal ---- */

static bool is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* What cannot be removed stays, and the rest goes all the same. nftw() would stat each file. */
static void remove_tree(int dir, const char *name)
{
	const struct dirent *entry;
	DIR *inside;
	int fd;

	if (!unlinkat(dir, name, 0) || errno != EISDIR)
		return;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	inside = fd < 0 ? NULL : fdopendir(fd);
	while (inside && (entry = readdir(inside))) {
		if (is_entry(entry))
			remove_tree(fd, entry->d_name);
	}
	if (inside)
		closedir(inside);
	else if (fd >= 0)
		close(fd);
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* What a daemon makes beside the lock. */
static const char *const made[] = { SOFTHCA_SYSFS, SOFTHCA_DEV, SOFTHCA_SOCKET, SOFTHCA_PRELOAD,
				    LOCK ".new" };
#define MADE (sizeof(made) / sizeof(made[0]))

/* Nothing else: the user may have named a directory that holds other things, too. */
static void clear(const char *path)
{
	char victim[PATH_MAX];

	for (size_t i = 0; i < MADE; i++) {
		if (!dir_join(victim, sizeof(victim), path, made[i]))
			remove_tree(AT_FDCWD, victim);
	}
}

void home_remove(const char *path)
{
	char lock[PATH_MAX];

	clear(path);
	if (!dir_join(lock, sizeof(lock), path, LOCK))
		unlink(lock);
	rmdir(path);
}

/* ---- the lock ---- */

static int lock_file(const char *path, int flags)
{
	int fd = open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
	int err;

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(fd);
	return err;
}

bool home_is_free(const char *path)
{
	char file[PATH_MAX];
	int fd = dir_join(file, sizeof(file), path, LOCK) ? -ENAMETOOLONG : lock_file(file, 0);

	if (fd >= 0)
		close(fd);
	return fd != -EBUSY;
}

/* The content of a daemon's lock. A daemon makes nothing else before it has written this. */
#define MARK "softhca\n"

int home_mark(int lock)
{
	return pwrite(lock, MARK, strlen(MARK), 0) < 0 ? -errno : 0;
}

/* Renamed after it is locked, so that a lock file without a lock is a dead daemon's. */
static int lock_new(const char *directory)
{
	char early[PATH_MAX], path[PATH_MAX];
	int fd;

	if (dir_join(early, sizeof(early), directory, LOCK ".new") ||
	    dir_join(path, sizeof(path), directory, LOCK))
		return -ENAMETOOLONG;
	fd = lock_file(early, O_CREAT);
	if (fd >= 0 && rename(early, path)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

/* ---- runs ---- */

/* What a run that was killed before it had a lock has left. */
static void sweep_early(const char *path)
{
	char early[PATH_MAX];
	struct stat st;

	/* A run that is alive makes the lock at once. */
	if (lstat(path, &st) || st.st_mtime + PATIENCE > time(NULL))
		return;
	if (!dir_join(early, sizeof(early), path, LOCK ".new"))
		unlink(early);
	rmdir(path);
}

static void sweep_one(const char *base, const char *name)
{
	char path[PATH_MAX], lock[PATH_MAX];
	int fd;

	if (dir_join(path, sizeof(path), base, name) || dir_check(path) ||
	    dir_join(lock, sizeof(lock), path, LOCK))
		return;
	fd = lock_file(lock, 0);
	if (fd == -ENOENT)
		sweep_early(path);
	if (fd < 0)
		return; /* alive, or just being made */
	home_remove(path);
	close(fd);
}

static void sweep(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (!strncmp(entry->d_name, RUN_PREFIX, sizeof(RUN_PREFIX) - 1))
			sweep_one(base, entry->d_name);
	}
	closedir(dir);
}

static bool create_in(const char *base, char path[DIR_MAX + 1])
{
	return base && base[0] == '/' &&
	       !dir_join(path, DIR_MAX + 1, base, RUN_PREFIX "XXXXXX") && mkdtemp(path);
}

int home_create(char path[DIR_MAX + 1], int *lock, char *why, size_t size)
{
	/* /dev/shm is memory, where a directory is made ten times as fast as on a disk. */
	const char *const bases[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/dev/shm",
				      "/tmp" };
	const size_t count = sizeof(bases) / sizeof(bases[0]);
	size_t i;

	for (i = 0; i < count && !create_in(bases[i], path); i++)
		continue;
	if (i == count) {
		snprintf(why, size,
			 "no place for a private directory: neither XDG_RUNTIME_DIR nor TMPDIR (%d bytes at "
			 "most, for the sake of the socket's name), /dev/shm or /tmp can take one",
			 DIR_MAX - (int)(sizeof("/" RUN_PREFIX "XXXXXX") - 1));
		return -ENOENT;
	}
	*lock = lock_new(path);
	if (*lock < 0) {
		int err = server_fail(why, size, path, *lock);

		home_remove(path);
		return err;
	}
	sweep(bases[i]);
	return 0;
}

/* ---- the long-lived daemon ---- */

/* A daemon that was ending may have removed the file before we locked it. */
static bool still_there(const char *path, int fd)
{
	struct stat named, open_file;

	return !stat(path, &named) && !fstat(fd, &open_file) && named.st_ino == open_file.st_ino;
}

static bool exists(const char *path, const char *name)
{
	char file[PATH_MAX];
	struct stat st;

	return !dir_join(file, sizeof(file), path, name) && !lstat(file, &st);
}

/* The first entry in the way of a daemon, or NULL. */
static const char *entry_in_the_way(const char *path)
{
	for (size_t i = 0; i < MADE; i++) {
		if (exists(path, made[i]))
			return made[i];
	}
	return NULL;
}

/* Whether a daemon may clear the directory, whose lock is ours. */
static bool is_for_us(const char *path, int fd)
{
	char text[sizeof(MARK)];
	ssize_t length = pread(fd, text, sizeof(text), 0);

	if (length == sizeof(MARK) - 1 && !memcmp(text, MARK, sizeof(MARK) - 1))
		return true;
	return !length && !entry_in_the_way(path);
}

/*
 * Directory and lock, or -errno; -EAGAIN when a daemon that was ending took them away, -EEXIST when
 * the directory has things that no daemon has left.
 */
static int claim(const char *path, const char *file)
{
	int err, fd;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	err = dir_check(path);
	if (err)
		return err == -ENOENT ? -EAGAIN : err;
	/* A directory that is refused gets no lock. */
	fd = lock_file(file, entry_in_the_way(path) ? 0 : O_CREAT);
	if (fd == -ENOENT)
		return entry_in_the_way(path) && !exists(path, LOCK) ? -EEXIST : -EAGAIN;
	if (fd < 0)
		return fd;
	err = still_there(file, fd) ? 0 : -EAGAIN;
	if (!err && !is_for_us(path, fd))
		err = -EEXIST;
	if (!err)
		return fd;
	close(fd);
	return err;
}

bool home_daemon_is_stopped(int sock)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	char path[64], state;
	bool stopped = true;
	FILE *file;

	getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)peer.pid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) == 1)
		stopped = state == 'T' || state == 't';
	fclose(file);
	return stopped;
}

/* A running daemon answers a request without words. One that does not is stopped or dying. */
static bool answers(int sock)
{
	struct softhca_welcome reply;
	ssize_t got;
	int text;

	if (message_ask(sock, SOFTHCA_CONTROL, "", 0))
		return false;
	got = message_receive(sock, &reply, sizeof(reply), &text, 0);
	if (text >= 0)
		close(text);
	return got > 0 || (got == -EAGAIN && home_daemon_is_stopped(sock));
}

/* Whether the lock's owner serves. It may be just starting, or dying and still accept. */
static bool serves(const char *path)
{
	int sock = message_connect(path, 1);
	bool answer;

	if (sock < 0)
		return sock == -ENAMETOOLONG;
	answer = answers(sock);
	close(sock);
	return answer;
}

static int explain(const char *path, int err, char *why, size_t size)
{
	const char *entry;

	if (err == -EPERM) {
		snprintf(why, size, "%s: must belong to you and to nobody else (mode 0700)", path);
	} else if (err == -EBUSY) {
		snprintf(why, size, "a daemon is already running in %s", path);
	} else if (err == -EEXIST) {
		entry = entry_in_the_way(path);
		snprintf(
			why, size,
			"%s: no daemon has left '%s' there: remove it, or name another directory with SOFTHCA_DIR",
			path, entry ? entry : LOCK);
	} else {
		server_fail(why, size, path, err);
	}
	return err;
}

int home_claim(const char *path, int *lock, char *why, size_t size)
{
	const uint64_t end = hca_now() + PATIENCE * 1000000000ull;
	char file[PATH_MAX];

	if (dir_join(file, sizeof(file), path, LOCK))
		return server_fail(why, size, path, -ENAMETOOLONG);
	do {
		*lock = claim(path, file);
		if (*lock != -EAGAIN && (*lock != -EBUSY || serves(path)))
			break;
		usleep(10000);
	} while (hca_now() < end);
	if (*lock < 0)
		return explain(path, *lock, why, size);
	/* Removes what a killed daemon left, except the lock file, which is ours now. */
	clear(path);
	return 0;
}
