/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Standard input, output and error: messages, and whether the output was written. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cli_refuse(int status, const char *format, ...)
{
	va_list args;

	fputs("softhca: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

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

int cli_main(int (*execute)(int argc, char **argv), int argc, char **argv)
{
	int status;
	bool failed;

	fill();
	status = execute(argc, argv);
	/* fflush() itself tells of the last write only. */
	failed = ferror(stdout);
	if (!fflush(stdout) && !failed)
		return status;
	return cli_refuse(CLI_REFUSED, "standard output: %s; what was printed is not complete",
			  failed ? "a write failed" : strerror(errno));
}
