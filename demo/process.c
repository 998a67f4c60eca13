/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How a process of the cluster prints messages, waits for the others, and ends when it fails or
 * something takes too long.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster.h"

static char name[32] = "main";
static const char *step = "starting";
static struct ibv_context *opened;
static struct member *self;

void process_begin(unsigned int member)
{
	self = &cluster->members[member];
	if (member == SENDER)
		strcpy(name, "sender");
	else
		snprintf(name, sizeof(name), "receiver %u", member);
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
	process_step("closing the device after a failure");
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

void process_must(const char *verb, int err)
{
	if (err)
		process_fail("%s: %s", verb, strerror(err < 0 ? errno : err));
}

void *process_made(const char *verb, void *object)
{
	if (!object)
		process_fail("%s: %s", verb, strerror(errno));
	return object;
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

void process_step(const char *what)
{
	step = what;
	signal(SIGALRM, too_long);
	alarm(what ? cluster->timeout + 2 : 0);
}

void process_reached(enum phase phase)
{
	__atomic_store_n(&self->phase, phase, __ATOMIC_RELEASE);
}

void process_go_on(void)
{
	if (__atomic_load_n(&cluster->failed, __ATOMIC_RELAXED))
		process_abandon();
}

/* Without a limit: each process watches its own steps, and main() watches all of them. */
void process_await(const unsigned int *number, unsigned int value)
{
	struct timespec moment = { .tv_nsec = 100000 };

	process_step(NULL);
	for (; __atomic_load_n(number, __ATOMIC_ACQUIRE) < value; nanosleep(&moment, NULL))
		process_go_on();
}
