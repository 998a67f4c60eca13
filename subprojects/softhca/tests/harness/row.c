/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Runs rows and prints their lines. */
#include "row.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Longer than the limits of waits in rows, so that a wait with a limit fails first and names its
 * condition. A row whose wait has no limit hangs.
 */
#define ROW_SECONDS 60

static struct row *rows, **last_row = &rows;
static const char *current = "no row";
static const char *line_prefix = "";
/* What the row's processes have printed, in memory that they share. The last one here counts. */
static enum report { ROW_NOTHING, ROW_OK, ROW_SKIPPED, ROW_FAILED } * reported;

static void report(enum report what)
{
	if (reported && *reported < what)
		*reported = what;
}

void row_add(struct row *row)
{
	*last_row = row;
	last_row = &row->next;
}

const struct row *row_first(void)
{
	return rows;
}

void row_begin(const char *name)
{
	current = name;
}

void row_ok(void)
{
	if (reported && *reported == ROW_FAILED)
		return; /* a child of the row has printed its line */
	printf("ok %s%s\n", line_prefix, current);
	fflush(stdout);
	report(ROW_OK);
}

void row_skip(const char *reason)
{
	printf("skip %s%s: %s\n", line_prefix, current, reason);
	fflush(stdout);
	report(ROW_SKIPPED);
	exit(0);
}

void row_inherit(const char *prefix)
{
	line_prefix = prefix;
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
	printf("FAIL %s%s: %s:%d: %s\n", line_prefix, current, name ? name + 1 : file, line, why);
	fflush(stdout);
	report(ROW_FAILED);
	_exit(1);
}

void row_must_end(pid_t child, int status, const char *file, int line)
{
	int found = -1;

	if (waitpid(child, &found, 0) != child || found != status)
		row_fail(file, line, "the child ends with status %#x, not %#x", found, status);
}

double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bool row_run(const struct row *row, const char *name)
{
	int status;
	bool good;
	pid_t pid;

	row_begin(name);
	reported = mmap(NULL, sizeof(*reported), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(reported != MAP_FAILED);
	pid = fork();
	if (pid < 0)
		row_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
	if (!pid) {
		row_inherit("");
		if (row->before)
			row->before();
		row->run();
		if (row->after)
			row->after();
		row_ok();
		exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		printf("FAIL %s: %s\n", name,
		       WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status)));
	else if (!*reported)
		printf("FAIL %s: exits before its end, with status %d\n", name,
		       WEXITSTATUS(status));
	else if (status && *reported == ROW_OK)
		printf("FAIL %s: exits after its end, with status %d\n", name, WEXITSTATUS(status));
	fflush(stdout);
	good = !status && *reported && *reported != ROW_FAILED;
	munmap(reported, sizeof(*reported));
	reported = NULL;
	return good;
}

static bool is_group(const char *name)
{
	for (const struct row *row = rows; row; row = row->next)
		if (!strcmp(row->group, name))
			return true;
	return false;
}

int rows_main(int argc, char **argv)
{
	const char *group = argc > 1 && is_group(argv[1]) ? argv[1] : NULL;
	const char *only = group ? argv[2] : argv[1];
	bool good = true, any = false;

	if (only && !strcmp(only, "--list")) {
		for (const struct row *row = rows; row; row = row->next)
			puts(row->name);
		return 0;
	}
	for (const struct row *row = rows; row; row = row->next)
		if ((!group || !strcmp(row->group, group)) && (!only || strstr(row->name, only))) {
			good &= row_run(row, row->name);
			any = true;
		}
	if (!any)
		fprintf(stderr, "usage: %s --list | [GROUP] [PART_OF_NAME]\n", argv[0]);
	return any ? !good : 2;
}
