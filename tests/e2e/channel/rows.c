/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Runs rows, each in a process of its own. */

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

#define ROW_SECONDS 60

void row_fail(const char *file, int line, const char *format, ...)
{
	const char *slash = strrchr(file, '/');
	int saved_errno = errno;
	va_list args;

	printf("%s:%d: ", slash ? slash + 1 : file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" (errno %d): ", saved_errno);
	fflush(stdout);
	_exit(1);
}

static bool run_row(const struct row *row, int variant, const char *variant_name)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(ROW_SECONDS);
		row->run(variant);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal %d: ", WTERMSIG(status));
	printf("%s %s [%s]\n", status ? "FAIL" : "ok", row->says, variant_name);
	return !status;
}

int rows_run(const struct group *group, int variant, const char *variant_name)
{
	int failed = 0;

	for (unsigned i = 0; i < group->count; i++)
		failed |= !run_row(&group->rows[i], variant, variant_name);
	return failed;
}
