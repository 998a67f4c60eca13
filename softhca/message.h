/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Messages and descriptors over the daemon's socket, for both of its sides. */
#ifndef SOFTHCA_MESSAGE_H
#define SOFTHCA_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

/* Socket to the daemon, whose calls give up after so many seconds (0 = never), or -errno. */
int message_connect(const char *directory, int seconds);

/* Sends one message, with a descriptor or without (-1). @flags as of sendmsg(2). 0 or -errno. */
int message_send(int sock, const void *data, size_t length, int fd, int flags);

/* Bytes received (0 = the end), or -errno. Keeps at most one descriptor, in *fd, else -1. */
ssize_t message_receive(int sock, void *data, size_t room, int *fd, int flags);

/* ---- where the daemon is: the one rule that preload and command share ---- */

/* A socket's name has 108 bytes on Linux; "/socket" and its end take eight of them. */
#define DIR_MAX 100

/*
 * The directory named by SOFTHCA_DIR, else the user's own: softhca in XDG_RUNTIME_DIR, or
 * /tmp/softhca-UID. 0, -EINVAL for a relative SOFTHCA_DIR, or -ENAMETOOLONG when a socket in it
 * could not have a name.
 */
int dir_default(char path[DIR_MAX + 1]);

/* 0 if @path is a directory that belongs to this user alone; -ENOENT, -ENOTDIR or -EPERM if not. */
int dir_check(const char *path);

/* @path = @directory/@name; 0 or -ENAMETOOLONG. */
int dir_join(char *path, size_t size, const char *directory, const char *name);

#endif
