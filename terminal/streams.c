/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Standard input, output and error of a command. */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void fill(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* The wrong way round, so that it fails with EBADF as a closed one. open() takes the lowest number, this one. */
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
}

/* NULL when all of standard output has been written, else the reason why not. */
static const char *flush(void)
{
	bool failed = ferror(stdout);

	if (fflush(stdout))
		return strerror(errno);
	return failed ? "a write failed" : NULL;
}

int streams_main(const char *name, int lost, int (*execute)(int argc, char **argv), int argc, char **argv)
{
	const char *why;
	int status;

	fill();
	status = execute(argc, argv);
	why = flush();
	if (!why)
		return status;
	fprintf(stderr, "%s: standard output: %s; what was printed is not complete\n", name, why);
	return lost;
}
