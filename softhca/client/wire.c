/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is special about the program's side of a context's socket. */
#include "client.h"

#include <softhca/message.h>

#include <errno.h>
#include <fcntl.h>

/* A high number: some programs count on low ones, or close all descriptors up to a small number. */
#define HIGH_FD 700

int wire_move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	real()->close(fd);
	return high;
}

int wire_connect(const char *directory)
{
	int sock = message_connect(directory, 0);

	return sock < 0 ? sock : wire_move_high(sock);
}

int wire_receive(int sock, void *data, size_t length, int *fd)
{
	ssize_t got = message_receive(sock, data, length, fd, 0);

	if (got < 0)
		return (int)got;
	/* The end of the connection means that the daemon has ended. */
	return (size_t)got == length ? 0 : -EIO;
}
