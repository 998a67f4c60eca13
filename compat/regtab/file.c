/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The file of a table.
 *
 * Who is an enemy: other users. They cannot read or write the file, give us one of theirs, or lead us elsewhere by links,
 * and a directory in which they could is refused. Processes of the same user can do as they like to each other anyway
 * (ptrace); of them, a table with any content is survived, before and while it is mapped, with one exception: who
 * truncates a file that others have mapped kills them with SIGBUS.
 *
 * A table appears complete: it is built without a name (O_TMPFILE), locked, and then linked. So no process ever sees a
 * half-made one, a crash before the link leaves nothing, and nobody opens another user's file for creating (which
 * fs.protected_regular would refuse).
 *
 * It disappears under the write lock of the presence byte: who holds that knows that no process has the table. An opener
 * gets the read lock and then looks whether the file still has its name; if not, it begins again. A process that closes
 * first drops its read lock and then tries for the write lock: of two that close at once, the later finds nobody and
 * removes the file; if they meet in the middle, one of them gets the write lock and does.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "lock.h"

#define OPEN_WAIT_MS	2000

int regtab_why(struct regtab_error *why, int error, const char *dir, const char *name, const char *format, ...)
{
	va_list args;
	int used;

	if (!why)
		return error;
	used = snprintf(why->text, sizeof(why->text), "registration table %.200s%s%s: ", dir, name ? "/" : "",
			name ? name : "");
	if (used < 0 || (size_t)used >= sizeof(why->text))
		return error;
	va_start(args, format);
	vsnprintf(why->text + used, sizeof(why->text) - (size_t)used, format, args);
	va_end(args);
	return error;
}

/* Who may write a directory without the sticky bit may put his own file in the place of ours. */
int regtab_dir_open(const char *dir, struct regtab_error *why)
{
	const char *bad = NULL;
	struct stat st;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return regtab_why(why, -errno, dir, NULL,
				  "cannot open the directory: %m; set XRC_COMPAT_TABLE_DIR to a directory of your own");
	if (fstat(fd, &st))
		bad = "cannot be examined";
	else if (st.st_uid && st.st_uid != geteuid())
		bad = "belongs to another user";
	else if (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX))
		bad = "may be written by others and has no sticky bit";
	if (!bad)
		return fd;
	close(fd);
	return regtab_why(why, -EPERM, dir, NULL,
			  "the directory %s; set XRC_COMPAT_TABLE_DIR to a directory of your own", bad);
}

static char name_char(char c)
{
	bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';

	return plain ? c : '_';
}

void regtab_file_name(const struct regtab_key *key, char name[REGTAB_NAME_SIZE])
{
	char device[17];
	unsigned i;

	for (i = 0; i < sizeof(device) - 1 && key->device[i]; i++)
		device[i] = name_char(key->device[i]);
	device[i] = 0;
	snprintf(name, REGTAB_NAME_SIZE, REGTAB_NAME_PREFIX "%u-%s-%016llx", (unsigned)geteuid(), device,
		 (unsigned long long)regtab_key_hash(key));
}

int regtab_file_checks(const struct stat *st, const char **reason)
{
	if (!st->st_nlink)
		return -ESTALE;
	*reason = NULL;
	if (!S_ISREG(st->st_mode))
		*reason = "it is not a regular file";
	else if (st->st_uid != geteuid())
		*reason = "it belongs to another user";
	else if (st->st_mode & 077)
		*reason = "others may read or write it";
	else if (st->st_nlink != 1)
		*reason = "it has several names";
	else if (st->st_size < SEGMENTS_OFFSET)
		*reason = "it is not a registration table: too short";
	return *reason ? -EPERM : 0;
}

int regtab_file_reserve(int fd, uint32_t offset, uint32_t size)
{
	/* Reserving is undone and reported when a signal comes in; a program with a fast timer must get ahead some time. */
	for (int i = 0; i < 1000; i++) {
		if (!fallocate(fd, 0, (off_t)offset, (off_t)size)) {
			regtab_fault_point();
			return 0;
		}
		if (errno != EINTR)
			break;
	}
	return -errno;
}

static bool name_is_file(int dir_fd, const char *name, int fd)
{
	struct stat named, opened;

	return !fstat(fd, &opened) && !fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) &&
	       named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

int regtab_file_unlink(int dir_fd, const char *name, int fd)
{
	if (!name_is_file(dir_fd, name, fd))
		return -ENOENT;
	if (unlinkat(dir_fd, name, 0))
		return -errno;
	regtab_fault_point();	/* crash: removed, the lock goes with the process, waiting openers begin again */
	return 0;
}

/* Everything of a new table but its name. */
static int fill_new(int fd, const struct regtab_key *key)
{
	struct shape shape = { 1, 1 };
	struct table_header header = { 0 };
	uint64_t magic = REGTAB_MAGIC;
	int error;

	if (fchmod(fd, 0600))		/* the umask may have taken our own rights */
		return -errno;
	error = regtab_file_reserve(fd, HEADER_OFFSET, MEMBERS_OFFSET);
	if (!error)
		error = regtab_file_reserve(fd, MEMBERS_OFFSET, PLANE_MEMBERS * (uint32_t)sizeof(struct member_record));
	if (!error)
		error = regtab_file_reserve(fd, SEGMENTS_OFFSET, shape_bytes(shape) - SEGMENTS_OFFSET);
	if (error)
		return error;
	regtab_header_fill(&header, key);
	if (pwrite(fd, &header, sizeof(header), HEADER_OFFSET) != sizeof(header))
		return -EIO;
	regtab_fault_point();		/* crash: a file without a name, which the kernel frees */
	if (pwrite(fd, &magic, sizeof(magic), offsetof(struct table_header, magic)) != sizeof(magic))
		return -EIO;
	regtab_fault_point();
	return regtab_lock(fd, F_RDLCK, LOCK_PRESENCE);
}

static int link_new(struct table_file *file)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	if (linkat(AT_FDCWD, path, file->dir_fd, file->name, AT_SYMLINK_FOLLOW))
		return errno == EEXIST ? -EAGAIN : -errno;
	regtab_fault_point();		/* crash: a complete table that no process has; the next opener replaces it */
	return 0;
}

/* -EAGAIN: another process was faster. */
static int create(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why)
{
	const char *step = "cannot make a file in the directory";
	int error = 0;

	file->fd = openat(file->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0)
		error = -errno;
	if (!error) {
		step = "cannot fill the file (is the file system full?)";
		error = fill_new(file->fd, key);
	}
	if (!error) {
		step = "cannot name the file (needs /proc)";
		error = link_new(file);
	}
	if (!error)
		return 0;
	if (file->fd >= 0)
		close(file->fd);
	if (error == -EAGAIN)
		return error;
	errno = -error;
	return regtab_why(why, error, dir, file->name, "%s: %m; set XRC_COMPAT_TABLE_DIR to a local directory of your own",
			  step);
}

/* Nobody has the table and we hold the write lock: a crash left it, of whatever version or boot. */
static int remove_dead(struct table_file *file, const struct table_header *header, const char **reason)
{
	int error;

	if (!regtab_header_is_table(header)) {
		*reason = "it is not a registration table";
		return -EPERM;
	}
	error = regtab_file_unlink(file->dir_fd, file->name, file->fd);
	*reason = "it cannot be removed";
	return error && error != -ENOENT ? error : -EAGAIN;
}

static int read_header(int fd, struct table_header *header)
{
	return pread(fd, header, sizeof(*header), HEADER_OFFSET) == sizeof(*header) ? 0 : -EPERM;
}

/* The file is open. 0: joined its users. -EAGAIN: begin again, at once or after a nap: it is about to be removed. */
static int enter(struct table_file *file, const struct regtab_key *key, const char **reason)
{
	struct table_header header;
	struct stat st;
	int error;

	*reason = "cannot be examined";
	if (fstat(file->fd, &st))
		return -errno;
	error = regtab_file_checks(&st, reason);
	if (error)
		return error == -ESTALE ? -EAGAIN : error;
	*reason = "the file system has no record locks";
	error = regtab_lock(file->fd, F_WRLCK, LOCK_PRESENCE);
	if (!error) {
		error = read_header(file->fd, &header);
		*reason = "it cannot be read";
		return error ? error : remove_dead(file, &header, reason);
	}
	if (error == -EAGAIN)
		error = regtab_lock(file->fd, F_RDLCK, LOCK_PRESENCE);
	if (error)
		return error;
	/* Now nobody removes it; but somebody may have, before we got the lock. */
	if (!name_is_file(file->dir_fd, file->name, file->fd))
		return -EAGAIN;
	*reason = "it cannot be read";
	error = read_header(file->fd, &header);
	return error ? error : regtab_header_check(&header, key, reason);
}

static int try_open(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why)
{
	const char *reason;
	struct stat st;
	int error;

	file->fd = openat(file->dir_fd, file->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0 && errno == ENOENT)
		return create(file, dir, key, why);
	if (file->fd < 0) {
		error = errno == ELOOP || errno == EISDIR || errno == ENXIO ? -EPERM : -errno;
		reason = error == -EPERM ? "it is not a regular file" : "cannot open it (does it belong to another user?)";
		if (!fstatat(file->dir_fd, file->name, &st, AT_SYMLINK_NOFOLLOW) && st.st_uid != geteuid())
			reason = "it belongs to another user";
		return regtab_why(why, error, dir, file->name, "%s" REGTAB_NEXT_STEP, reason);
	}
	error = enter(file, key, &reason);
	if (!error)
		return 0;
	close(file->fd);	/* and with it the lock */
	return error == -EAGAIN ? error : regtab_why(why, error, dir, file->name, "%s" REGTAB_NEXT_STEP, reason);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int regtab_file_open(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why)
{
	int64_t deadline = now_ms() + OPEN_WAIT_MS;
	struct timespec nap = { 0, 20000 };
	struct stat st;
	int error;

	while ((error = try_open(file, dir, key, why)) == -EAGAIN && now_ms() < deadline) {
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 5000000)
			nap.tv_nsec *= 2;
	}
	if (error == -EAGAIN)
		return regtab_why(why, error, dir, file->name,
				  "a process that opens or closes it has stopped half-way" REGTAB_NEXT_STEP);
	if (error)
		return error;
	if (fstat(file->fd, &st)) {
		error = -errno;
		close(file->fd);
		return error;
	}
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	return 0;
}

void regtab_file_close(struct table_file *file)
{
	regtab_lock(file->fd, F_UNLCK, LOCK_PRESENCE);
	if (!regtab_lock(file->fd, F_WRLCK, LOCK_PRESENCE))
		regtab_file_unlink(file->dir_fd, file->name, file->fd);
	close(file->fd);
	close(file->dir_fd);
}
