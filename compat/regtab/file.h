/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The file of a table: finding it, trusting it, making it, locking it, removing it. */
#ifndef COMPAT_REGTAB_FILE_H
#define COMPAT_REGTAB_FILE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "layout.h"

#define REGTAB_NAME_PREFIX	"xrc-compat-"
#define REGTAB_NAMES		64u	/* tried, when other users have files under our names */
#define REGTAB_NEXT_STEP \
	"; if no program uses it remove it, or set XRC_COMPAT_TABLE_DIR to another directory"

/** struct own_fd - a descriptor, never one of the standard three, and how to tell that it still is ours. */
struct own_fd {
	int fd;
	dev_t dev;
	ino_t ino;
};

/** own_fd_note - keep a descriptor that was just made. 0 or -errno, then it is closed; fd -1: errno, as for the call. */
int own_fd_note(struct own_fd *own, int fd);

/** own_fd_size - of its file, or -1: the program has closed the descriptor, and perhaps opened its own in the place. */
off_t own_fd_size(const struct own_fd *own);

static inline bool own_fd_is_ours(const struct own_fd *own)
{
	return own_fd_size(own) >= 0;
}

void own_fd_close(struct own_fd *own);

/** struct table_file - an open table. The presence lock is held. */
struct table_file {
	struct own_fd own;
	char path[512];
};

/** regtab_why - fill why (may be NULL): "registration table PATH: ..." and return err. */
int regtab_why(struct regtab_error *why, int err, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** regtab_file_path - fill in the path of the table of a key and this user, the n-th that it may have. -ENAMETOOLONG. */
int regtab_file_path(struct table_file *file, const char *dir, const struct regtab_key *key, unsigned n);

/** regtab_file_is_foreign - whether another user has a file under this path. */
bool regtab_file_is_foreign(const struct table_file *file);

/** regtab_file_open - open or make the table at file->path, in dir. Waits up to 4 s for one who is just removing it. */
int regtab_file_open(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why);

/** regtab_file_close - the last process to close it removes it. */
void regtab_file_close(const struct table_file *file);

/** regtab_file_checks - 0, or why a file must not be used. *reason: a phrase. -ESTALE: removed meanwhile. */
int regtab_file_checks(const struct stat *st, const char **reason);

/** regtab_file_reserve - make memory of a page, so that touching it cannot fail. -ENOSPC, -EFBIG. */
int regtab_file_reserve(const struct table_file *file, uint32_t page);

/** regtab_file_is_removed - whether another file has its path; where this process does not see the path: whether it has no name. */
bool regtab_file_is_removed(const struct table_file *file);

/** regtab_file_remove_dead - a table that no process has. -EAGAIN: one has; another -errno. *reason: a phrase, always. */
int regtab_file_remove_dead(const struct table_file *file, bool dry_run, const char **reason);

/*
 * Who is alive: record locks (fcntl F_SETLK) far behind the end of the table's file, released by the kernel.
 *
 * Process locks, not open-file-description locks: those are inherited by fork, so a sleeping child would keep its dead
 * parent's registrations alive, and no handler in the child cures that for every kind of clone. A process lock belongs to
 * the process alone and goes with it, whoever else has the file open, in whatever pid namespace. Its price is known: it
 * also goes when *any* descriptor of the file is closed in the process. So a process opens a table once (tab.c), and
 * checks in regtab_add() that it still holds its locks.
 *
 * Byte "presence": read lock by every process that has the table open; who gets the write lock knows that nobody has.
 * Byte of a member number: write lock by the living member; read lock by those who reap a dead one, so that one reaper
 * that is stopped does not stop the others, and a joiner (write lock) waits for none.
 */
#define LOCK_PRESENCE		0x40000000
#define LOCK_MEMBER(index)	(LOCK_PRESENCE + 1 + (int)(index))

/** regtab_lock - take or change a lock of one byte, never waiting. type: F_RDLCK, F_WRLCK, F_UNLCK. -EAGAIN: held. */
int regtab_lock(int fd, int type, int byte);

/** regtab_lock_holder - F_WRLCK or F_RDLCK as another process holds the byte, F_UNLCK, or -errno. One system call. */
int regtab_lock_holder(int fd, int byte);

/**
 * struct found_table - a file of a directory, open for looking. No other thread opens a table meanwhile: of one file,
 * closing this descriptor would release the locks that it had just got, and a lock that we take would not keep it out.
 */
struct found_table {
	struct table_file file;
	struct stat st;
	bool own;		/* this very process has it open as a table: do not close it, that would release its locks */
	const char *reason;	/* why it is refused, or what is done with it */
};

/** regtab_each - call back for every table of the directory, with the file open, or err and the reason. Not 0 ends it. */
int regtab_each(const char *dir, int flags, int (*visit)(void *context, struct found_table *found, int err), void *context);

#endif
