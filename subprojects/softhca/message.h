/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Messages and descriptors over the daemon's socket, for both of its sides. */
#ifndef SOFTHCA_MESSAGE_H
#define SOFTHCA_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Socket to the daemon, whose calls give up after so many seconds (0 = never), or -errno. */
int message_connect(const char *directory, int seconds);

/* Sends one message, with a descriptor or without (-1). @flags as of sendmsg(2). 0 or -errno. */
int message_send(int sock, const void *data, size_t length, int fd, int flags);

/* Asks the question of a connection of this kind (enum softhca_kind). 0 or -errno. */
int message_ask(int sock, uint32_t kind, const void *question, size_t length);

/* Bytes received (0 = the end), or -errno. Keeps at most one descriptor, in *fd, else -1. */
ssize_t message_receive(int sock, void *data, size_t room, int *fd, int flags);

#endif
