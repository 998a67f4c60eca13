/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How a process of the cluster prints messages, and how it ends when it fails or something takes
 * too long.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"

#define CLOSING_SECONDS 20

static char name[64] = "coordinator";
static const char *step = "starting";
static struct ibv_context *opened;

void process_name(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
}

/* One write, so that lines of several processes do not mix. */
static void say(const char *format, va_list args)
{
	char line[512];
	int head = snprintf(line, sizeof(line), "xrc-cluster: %s: ", name);

	vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
	strcat(line, "\n");
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return;
}

void process_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void process_opened(struct ibv_context *context)
{
	opened = context;
}

void process_abandon(void)
{
	struct ibv_context *context = opened;

	opened = NULL;
	process_step("closing the device after a failure", CLOSING_SECONDS);
	if (context)
		ibv_close_device(context);
	_exit(1);
}

void process_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	process_abandon();
}

static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void too_long(int signal_number)
{
	(void)signal_number;
	put("xrc-cluster: ");
	put(name);
	put(": took too long: ");
	put(step);
	put("\n");
	_exit(1);
}

void process_step(const char *what, unsigned int seconds)
{
	struct sigaction action = { .sa_handler = too_long };

	step = what;
	sigaction(SIGALRM, &action, NULL);
	alarm(seconds);
}
