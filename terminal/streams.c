/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Standard input, output and error of a command. */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void streams_fill(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* The wrong way round, so that it fails with EBADF as a closed one. open() takes the lowest number, this one. */
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
}

const char *streams_flush(void)
{
	bool failed = ferror(stdout);

	if (fflush(stdout))
		return strerror(errno);
	return failed ? "a write failed" : NULL;
}
