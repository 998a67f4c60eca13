/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Where the daemon is: the rule that the preload and the command share. */
#ifndef SOFTHCA_DIR_H
#define SOFTHCA_DIR_H

#include <stddef.h>

/* A socket's name has 108 bytes on Linux; "/socket" and its end take eight of them. */
#define DIR_MAX 100

/*
 * The directory named by SOFTHCA_DIR, else the user's own: softhca in XDG_RUNTIME_DIR, or
 * /tmp/softhca-UID. 0, -EINVAL for a relative SOFTHCA_DIR, or -ENAMETOOLONG when a socket in it
 * could not have a name.
 */
int dir_default(char path[DIR_MAX + 1]);

/* The variable to blame when dir_default() fails. */
const char *dir_variable(void);

/* 0 if @path is a directory that belongs to this user alone; -ENOENT, -ENOTDIR or -EPERM if not. */
int dir_check(const char *path);

/* The same for the directory of dir_default(), or its own error. */
int dir_find(char path[DIR_MAX + 1]);

/* @path = @directory/@name; 0 or -ENAMETOOLONG. */
int dir_join(char *path, size_t size, const char *directory, const char *name);

#endif
