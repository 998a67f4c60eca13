/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Standard input, output and error of a command, and whether its output was written. */
#include "streams.h"
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void fill(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/*
		 * open() takes the lowest number, which is this one. O_ACCMODE: reads and writes
		 * fail with EBADF, as on a closed descriptor. Yet fdopen(3) accepts it for writing.
		 */
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_ACCMODE | O_CLOEXEC);
	}
}

/* fflush() and fclose() report errors of the last write only. */
const char *streams_flush(FILE *stream)
{
	bool failed = ferror(stream);

	if (fflush(stream))
		return strerror(errno);
	return failed ? "a write failed" : NULL;
}

const char *streams_close(FILE *stream)
{
	const char *why = streams_flush(stream);

	return fclose(stream) && !why ? strerror(errno) : why;
}

int streams_main(const char *name, int (*execute)(int argc, char **argv), int argc, char **argv)
{
	const char *why;
	int status;

	fill();
	status = execute(argc, argv);
	why = streams_flush(stdout);
	if (!why)
		return status;
	fprintf(stderr, "%s: standard output: %s; what was printed is not complete\n", name, why);
	return TOOL_EXIT_REFUSED;
}
