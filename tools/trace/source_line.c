/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Where in the sources an address is: asks addr2line(1), which knows every kind of debug information there is. */
#include "source_line.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_SIZE 256
#define PATIENCE_MS 10000	/* a solver with a gigabyte of debug information takes a while */

extern char **environ;

struct known {
	struct known *next;
	char *module;
	uint64_t offset;
	char line[LINE_SIZE];
};

static struct known *known_lines;

static pid_t start(const char *module, const char *address, int *output)
{
	char *argv[] = { (char *)"addr2line", (char *)"-e", (char *)module, (char *)address, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int ends[2];

	if (pipe(ends))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	if (posix_spawnp(&pid, "addr2line", &actions, NULL, argv, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*output = ends[0];
	return pid;
}

static void ask(const char *module, uint64_t offset, char *line)
{
	struct pollfd pollfd = { .events = POLLIN };
	char address[32];
	ssize_t length = 0;
	pid_t pid;

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)offset);
	pid = start(module, address, &pollfd.fd);
	if (pid < 0)
		return;
	if (poll(&pollfd, 1, PATIENCE_MS) > 0)
		length = read(pollfd.fd, line, LINE_SIZE - 1);
	else
		kill(pid, SIGKILL);
	line[length > 0 ? length : 0] = '\0';
	close(pollfd.fd);
	waitpid(pid, NULL, 0);
}

/* "??:0" and "file.c:?" are how it says that it does not know; a discriminator is of no use to people. */
static void trim(char *line)
{
	char *base;

	line[strcspn(line, " \n")] = '\0';
	base = strrchr(line, '/');
	if (base)
		memmove(line, base + 1, strlen(base + 1) + 1);
	if (strchr(line, '?'))
		line[0] = '\0';
}

const char *source_line(const char *module, uint64_t offset)
{
	struct known *known;

	for (known = known_lines; known; known = known->next) {
		if (known->offset == offset && !strcmp(known->module, module))
			return known->line;
	}
	known = calloc(1, sizeof(*known));
	if (!known)
		return "";
	known->module = strdup(module);
	if (!known->module) {
		free(known);
		return "";
	}
	known->offset = offset;
	known->next = known_lines;
	known_lines = known;
	if (module[0] == '/')
		ask(module, offset, known->line);
	trim(known->line);
	return known->line;
}
