/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The file of a table: finding it, trusting it, making it, removing it. */
#ifndef COMPAT_REGTAB_FILE_H
#define COMPAT_REGTAB_FILE_H

#include <sys/stat.h>
#include <sys/types.h>

#include "layout.h"

#define REGTAB_NAME_PREFIX	"xrc-compat-"
#define REGTAB_NAME_SIZE	96
#define REGTAB_NEXT_STEP \
	"; if no program uses it remove it, or set XRC_COMPAT_TABLE_DIR to another directory"

/** struct table_file - an open table. The presence lock is held. */
struct table_file {
	int fd;
	int dir_fd;
	dev_t dev;
	ino_t ino;
	char name[REGTAB_NAME_SIZE];
};

/** regtab_why - fill why (may be NULL): "registration table DIR/NAME: ..." and return error. */
int regtab_why(struct regtab_error *why, int error, const char *dir, const char *name, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/** regtab_dir_open - a directory in which nobody else can replace our files. Descriptor or -errno. */
int regtab_dir_open(const char *dir, struct regtab_error *why);

/** regtab_file_name - of the table of a key and this user. */
void regtab_file_name(const struct regtab_key *key, char name[REGTAB_NAME_SIZE]);

/**
 * regtab_file_open - open or make the table. file->dir_fd and file->name are set by the caller; dir is for messages.
 * Waits up to 2 s for one who is just removing it.
 */
int regtab_file_open(struct table_file *file, const char *dir, const struct regtab_key *key, struct regtab_error *why);

/** regtab_file_close - the last process to close it removes it. */
void regtab_file_close(struct table_file *file);

/** regtab_file_checks - 0, or why a file must not be used. *reason: a phrase. -ESTALE: removed meanwhile. */
int regtab_file_checks(const struct stat *st, const char **reason);

/** regtab_file_reserve - make memory of a range, so that touching it cannot fail. -ENOSPC. */
int regtab_file_reserve(int fd, uint32_t offset, uint32_t size);

/** regtab_file_unlink - remove the name if it still is this file's. Presence lock held for writing. 0 or -errno. */
int regtab_file_unlink(int dir_fd, const char *name, int fd);

#endif
