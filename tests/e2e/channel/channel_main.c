/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Completion channels as an old program uses them, row by row; each row in a process of its own.
 *
 *	channel GROUP own|joined
 *
 * Prints a line for each row, which begins with "ok" or "FAIL". Exits 1 when a row failed.
 */

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define ROW_SECONDS 40

extern const struct group destroy_group, wake_group, ack_group, fork_group;

static const struct group *const groups[] = { &destroy_group, &wake_group, &ack_group, &fork_group };
static const char *const owners[OWNERS] = { "own", "joined" };

void rig_fail(const char *file, int line, const char *format, ...)
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

static bool run_row(const struct row *row, enum owner owner)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(ROW_SECONDS);
		row->run(owner);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal %d: ", WTERMSIG(status));
	printf("%s %s [%s]\n", status ? "FAIL" : "ok", row->says, owners[owner]);
	return !status;
}

static int run_group(const struct group *group, enum owner owner)
{
	int failed = 0;

	for (unsigned i = 0; i < group->count; i++)
		failed |= !run_row(&group->rows[i], owner);
	return failed;
}

int main(int argc, char **argv)
{
	enum owner owner = argc == 3 && !strcmp(argv[2], owners[JOINED]) ? JOINED : OWN;

	for (unsigned i = 0; argc == 3 && i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i]->name, argv[1]))
			return run_group(groups[i], owner);
	fprintf(stderr, "usage: channel GROUP own|joined\n");
	return 2;
}
