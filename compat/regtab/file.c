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
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

#define OPEN_WAIT_NS	4000000000LL

int regtab_why(struct regtab_error *why, int err, const char *path, const char *format, ...)
{
	va_list args;
	int used;

	if (!why)
		return err;
	used = snprintf(why->text, sizeof(why->text), "registration table %.250s: ", path);
	va_start(args, format);
	vsnprintf(why->text + used, sizeof(why->text) - (size_t)used, format, args);
	va_end(args);
	return err;
}

/* ---- descriptors ---- */

/* Standard input and output are not ours to be, even if the program has closed them. */
int own_fd_note(struct own_fd *own, int fd)
{
	struct stat st;

	own->fd = fd;
	if (fd >= 0 && fd <= STDERR_FILENO) {
		own->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(fd);
	}
	if (own->fd < 0)
		return -errno;
	if (fstat(own->fd, &st)) {
		close(own->fd);
		return -EIO;
	}
	own->dev = st.st_dev;
	own->ino = st.st_ino;
	return 0;
}

off_t own_fd_size(const struct own_fd *own)
{
	struct stat st;

	return !fstat(own->fd, &st) && st.st_dev == own->dev && st.st_ino == own->ino ? st.st_size : -1;
}

void own_fd_close(struct own_fd *own)
{
	if (own_fd_is_ours(own))
		close(own->fd);
	own->fd = -1;
}

/* ---- locks ---- */

int regtab_lock(int fd, int type, int byte)
{
	struct flock lock = { .l_type = (short)type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	int err = fcntl(fd, F_SETLK, &lock) ? -errno : 0;

	regtab_fault_point();	/* also when refused: what comes next then is decided by others */
	return err == -EACCES ? -EAGAIN : err;
}

int regtab_lock_holder(int fd, int byte)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };

	if (fcntl(fd, F_GETLK, &lock))
		return -errno;
	return lock.l_type;
}

/* ---- trust ---- */

/* fs.overflowuid, which nobody changes. */
#define UNMAPPED_UID 65534

/*
 * In a user namespace (Apptainer, rootless containers) root mostly has no number, and /dev/shm this one. Whoever else it might be
 * of could not do more than remove our files: each is looked at for its own owner.
 */
static bool is_foreign(const struct stat *st)
{
	return st->st_uid && st->st_uid != geteuid() && !(st->st_uid == UNMAPPED_UID && st->st_mode & S_ISVTX);
}

/* Who may write a directory without the sticky bit may put his own file in the place of ours. */
int regtab_dir_check(const char *dir, const char **reason)
{
	struct stat st;
	int err = -EPERM;

	if (dir[0] != '/') {
		*reason = "the directory must be an absolute path, for processes differ in where they are";
	} else if (stat(dir, &st) || (S_ISDIR(st.st_mode) && access(dir, R_OK | X_OK))) {
		err = -errno;
		*reason = strerror(errno);
	} else if (!S_ISDIR(st.st_mode)) {
		err = -ENOTDIR;
		*reason = strerror(ENOTDIR);
	} else if (is_foreign(&st)) {
		*reason = "the directory belongs to another user";
	} else if (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX)) {
		*reason = "the directory may be written by others and has no sticky bit";
	} else {
		err = 0;
	}
	return err;
}

static char name_char(char c)
{
	bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';

	return plain ? c : '_';
}

int regtab_file_path(struct table_file *file, const char *dir, const struct regtab_key *key, unsigned n)
{
	char device[17], another[16] = "";
	unsigned i;
	int used;

	for (i = 0; i < sizeof(device) - 1 && key->device[i]; i++)
		device[i] = name_char(key->device[i]);
	device[i] = 0;
	if (n)
		snprintf(another, sizeof(another), "-%u", n);
	used = snprintf(file->path, sizeof(file->path), "%s/" REGTAB_NAME_PREFIX "%u-%s-%016llx%s", dir, (unsigned)geteuid(),
			device, (unsigned long long)regtab_key_hash(key), another);
	return used < (int)sizeof(file->path) ? 0 : -ENAMETOOLONG;
}

bool regtab_file_is_foreign(const struct table_file *file)
{
	struct stat st;

	return !lstat(file->path, &st) && st.st_uid != geteuid();
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
	else if (st->st_size < (off_t)REGTAB_PAGE)
		*reason = "it is not a registration table: too short";
	return *reason ? -EPERM : 0;
}

/* -EFBIG: RLIMIT_FSIZE, which also sends SIGXFSZ to the thread, to kill the program; so that is taken away. */
static int reserve(int fd, off_t offset)
{
	static const struct timespec at_once = { 0, 0 };
	sigset_t too_large, before, pending;
	int err = -EINTR;

	sigemptyset(&too_large);
	sigaddset(&too_large, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &too_large, &before);
	sigpending(&pending);
	/* Undone and reported when a signal comes in; a program with a fast timer must get ahead some time. */
	for (int i = 0; i < 1000 && err == -EINTR; i++)
		err = fallocate(fd, 0, offset, REGTAB_PAGE) ? -errno : 0;
	if (err == -EFBIG && !sigismember(&pending, SIGXFSZ))
		sigtimedwait(&too_large, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int regtab_file_reserve(const struct table_file *file, uint32_t page)
{
	int err;

	if (!own_fd_is_ours(&file->own))
		return -ESTALE;
	err = reserve(file->own.fd, (off_t)page * REGTAB_PAGE);
	regtab_fault_point();
	return err;
}

/* Who gave up rights, or is in a chroot now, does not see the path any more: then the file is asked. */
bool regtab_file_is_removed(const struct table_file *file)
{
	struct stat st;

	if (!lstat(file->path, &st))
		return st.st_dev != file->own.dev || st.st_ino != file->own.ino;
	return own_fd_is_ours(&file->own) && !fstat(file->own.fd, &st) && !st.st_nlink;
}

/* Presence lock held for writing. */
static int unlink_name(const struct table_file *file)
{
	if (regtab_file_is_removed(file))
		return -ENOENT;
	if (unlink(file->path))
		return -errno;
	regtab_fault_point();	/* crash: removed, the lock goes with the process, waiting openers begin again */
	return 0;
}

static int open_file(struct table_file *file, const char *path, int flags)
{
	return own_fd_note(&file->own, open(path, O_RDWR | O_CLOEXEC | flags, 0600));
}

/* Everything of a new table but its name. */
static int fill_new(int fd, const struct regtab_key *key)
{
	struct table_header header = { 0 };
	uint64_t magic = REGTAB_MAGIC;
	int err;

	if (fchmod(fd, 0600))		/* the umask may have taken our own rights */
		return -errno;
	err = reserve(fd, 0);
	if (err)
		return err;
	err = regtab_header_fill(&header, key);
	if (err)
		return err;
	if (pwrite(fd, &header, sizeof(header), 0) != sizeof(header))
		return -EIO;
	regtab_fault_point();		/* crash: a file without a name, which the kernel frees */
	if (pwrite(fd, &magic, sizeof(magic), offsetof(struct table_header, magic)) != sizeof(magic))
		return -EIO;
	regtab_fault_point();
	return regtab_lock(fd, F_RDLCK, LOCK_PRESENCE);
}

static int link_new(const struct table_file *file)
{
	char path[40];

	/* Of this thread: once main() has left by pthread_exit(3), the process has no descriptors under its own number. */
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", file->own.fd);
	if (linkat(AT_FDCWD, path, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW))
		return errno == EEXIST ? -EAGAIN : -errno;
	regtab_fault_point();		/* crash: a complete table that no process has; the next opener replaces it */
	return 0;
}

/* -EAGAIN: another process was faster. */
static int create(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why)
{
	const char *step = "cannot make a file in the directory";
	int err = open_file(file, dir, O_TMPFILE);

	if (!err) {
		step = "cannot fill the file (is the file system full, or ulimit -f or -n low?)";
		err = fill_new(file->own.fd, key);
		if (!err) {
			step = "cannot name the file (needs /proc)";
			err = link_new(file);
		}
		if (!err)
			return 0;
		close(file->own.fd);
	}
	if (err == -EAGAIN)
		return err;
	errno = -err;
	return regtab_why(why, err, file->path, "%s: %m; set XRC_COMPAT_TABLE_DIR to a local directory of your own", step);
}

/* With the write lock nobody has it, and none gets it: a crash left it, of whatever version or boot. */
int regtab_file_remove_dead(const struct table_file *file, bool dry_run, const char **reason)
{
	int err = regtab_lock(file->own.fd, F_WRLCK, LOCK_PRESENCE);
	uint64_t magic;

	*reason = err == -EAGAIN ? "a process is using it" : "the file system has no record locks";
	if (err)
		return err;
	*reason = "it is not a registration table";
	if (pread(file->own.fd, &magic, sizeof(magic), 0) != sizeof(magic) || magic != REGTAB_MAGIC)
		return -EPERM;
	*reason = "it cannot be removed";
	err = dry_run ? 0 : unlink_name(file);
	if (err && err != -ENOENT)
		return err;
	*reason = "no process is using it";
	return 0;
}

/* The file is open. 0: joined its users. -EAGAIN: begin again, at once or after a nap: it is about to be removed. */
static int enter(const struct table_file *file, const struct regtab_key *key, const char **reason)
{
	struct table_header header;
	struct stat st;
	int err;

	*reason = "cannot be examined";
	if (fstat(file->own.fd, &st))
		return -errno;
	err = regtab_file_checks(&st, reason);
	if (err)
		return err == -ESTALE ? -EAGAIN : err;
	err = regtab_file_remove_dead(file, false, reason);
	if (err != -EAGAIN)
		return err ? err : -EAGAIN;
	err = regtab_lock(file->own.fd, F_RDLCK, LOCK_PRESENCE);
	/* Now nobody removes it; but somebody may have, before we got the lock. */
	if (err || regtab_file_is_removed(file))
		return err ? err : -EAGAIN;
	*reason = "it cannot be read";
	if (pread(file->own.fd, &header, sizeof(header), 0) != sizeof(header))
		return -EPERM;
	return regtab_header_check(&header, key, reason);
}

static int try_open(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why)
{
	const char *reason = "cannot open it";
	int err = open_file(file, file->path, O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (err == -ENOENT)
		return create(file, dir, key, why);
	if (err == -ELOOP || err == -EISDIR || err == -ENXIO) {
		reason = "it is not a regular file";
		err = -EPERM;
	}
	if (err && regtab_file_is_foreign(file))
		reason = "it belongs to another user";
	if (!err) {
		err = enter(file, key, &reason);
		if (!err)
			return 0;
		close(file->own.fd);	/* and with it the lock */
	}
	return err == -EAGAIN ? err : regtab_why(why, err, file->path, "%s" REGTAB_NEXT_STEP, reason);
}

int regtab_file_open(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why)
{
	struct timespec nap = { 0, 20000 };
	int err;

	for (int64_t waited = 0; waited < OPEN_WAIT_NS; waited += nap.tv_nsec) {
		err = try_open(file, dir, key, why);
		if (err != -EAGAIN)
			return err;
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 5000000)
			nap.tv_nsec *= 2;
	}
	return regtab_why(why, -EAGAIN, file->path,
			  "a process that opens or closes it has stopped half-way" REGTAB_NEXT_STEP);
}

void regtab_file_close(const struct table_file *file)
{
	if (!own_fd_is_ours(&file->own))
		return;
	regtab_lock(file->own.fd, F_UNLCK, LOCK_PRESENCE);
	if (!regtab_lock(file->own.fd, F_WRLCK, LOCK_PRESENCE))
		unlink_name(file);
	close(file->own.fd);
}
