/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The file of a table: finding it, trusting it, making it, removing it. */
#ifndef COMPAT_REGTAB_FILE_H
#define COMPAT_REGTAB_FILE_H

#include <sys/stat.h>
#include <sys/types.h>

#include "layout.h"

#define REGTAB_NAME_PREFIX	"xrc-compat-"
#define REGTAB_NAMES		64u	/* tried, when other users have files under our names */
#define REGTAB_NEXT_STEP \
	"; if no program uses it remove it, or set XRC_COMPAT_TABLE_DIR to another directory"

/** struct table_file - an open table. The presence lock is held. */
struct table_file {
	int fd;			/* never one of the standard three; its file is looked at before it is used */
	dev_t dev;
	ino_t ino;
	char path[512];
};

/** regtab_why - fill why (may be NULL): "registration table PATH: ..." and return err. */
int regtab_why(struct regtab_error *why, int err, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** regtab_dir_check - 0 for a directory in which nobody else can replace our files, or -errno. */
int regtab_dir_check(const char *dir, struct regtab_error *why);

/** regtab_file_path - fill in the path of the table of a key and this user, the n-th that it may have. -ENAMETOOLONG. */
int regtab_file_path(struct table_file *file, const char *dir, const struct regtab_key *key, unsigned n);

/** regtab_file_is_foreign - whether another user has a file under this path. */
bool regtab_file_is_foreign(const struct table_file *file);

/** regtab_file_open - open or make the table at file->path, in dir. Waits up to 2 s for one who is just removing it. */
int regtab_file_open(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why);

/** regtab_file_close - the last process to close it removes it. */
void regtab_file_close(const struct table_file *file);

/** regtab_file_checks - 0, or why a file must not be used. *reason: a phrase. -ESTALE: removed meanwhile. */
int regtab_file_checks(const struct stat *st, const char **reason);

/** regtab_file_is_ours - whether the descriptor still is what we opened; the program may have closed it, and opened its own. */
bool regtab_file_is_ours(const struct table_file *file, struct stat *st);

/** regtab_file_reserve - make memory of a page, so that touching it cannot fail. -ENOSPC, -EFBIG. */
int regtab_file_reserve(const struct table_file *file, uint32_t page);

/** regtab_file_has_name - whether the path still is this file's. */
bool regtab_file_has_name(const struct table_file *file);

/** regtab_file_unlink - remove the name if it still is this file's. Presence lock held for writing. 0 or -errno. */
int regtab_file_unlink(const struct table_file *file);

#endif
