/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Runs rows and prints their lines. */

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "row.h"

/* more than any single wait in a row, so that the wait can say what did not come */
#define ROW_SECONDS 60

static const char *current = "no row";
static const char *speaker = "";

void row_begin(const char *name)
{
	current = name;
}

void row_ok(void)
{
	printf("ok %s%s\n", speaker, current);
	fflush(stdout);
}

void row_inherit(const char *who)
{
	speaker = who;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(ROW_SECONDS);
}

void row_fail(const char *file, int line, const char *format, ...)
{
	const char *name = strrchr(file, '/');
	char why[400];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	printf("FAIL %s%s: %s:%d: %s\n", speaker, current, name ? name + 1 : file, line, why);
	fflush(stdout);
	_exit(1);
}

double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool run_one(const struct row *row)
{
	int status;
	pid_t pid;

	row_begin(row->name);
	pid = fork();
	if (pid < 0)
		row_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
	if (!pid) {
		row_inherit("");
		row->run();
		row_ok();
		exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		printf("FAIL %s: %s\n", row->name,
		       WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status)));
	fflush(stdout);
	return !status;
}

int rows_run(const struct row *rows, size_t count, const char *only)
{
	bool good = true;

	for (size_t i = 0; i < count; i++)
		if (!only || strstr(rows[i].name, only))
			good &= run_one(&rows[i]);
	return good ? 0 : 1;
}

int groups_main(const struct group *const *groups, int argc, char **argv)
{
	for (; argc > 1 && *groups; groups++)
		if (!strcmp((*groups)->name, argv[1]))
			return rows_run((*groups)->rows, (*groups)->count,
					argc > 2 ? argv[2] : NULL);
	fprintf(stderr, "usage: %s GROUP [PART_OF_NAME]\n", argv[0]);
	return 2;
}
