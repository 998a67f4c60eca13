/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's side of `softhca status`, `stop` and `ctl`. */
#include "control.h"
#include "request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what the commands name ---- */

struct hca_device *control_device(struct request *request, const char *name)
{
	struct hca_machine *machine = request->machine;

	for (int i = 0; i < machine->settings.devices; i++) {
		if (!strcmp(machine->device[i].name, name))
			return &machine->device[i];
	}
	fprintf(request->out, "no device %s\n", name);
	return NULL;
}

bool control_parse(const char *word, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(word, &end, 0);
	return word[0] >= '0' && word[0] <= '9' && !*end && !errno && *number <= most;
}

int control_usage(const struct request *request)
{
	fprintf(request->out, "%s takes %s\n", request->word[0], request->usage);
	return -EINVAL;
}

/* ---- commands ---- */

static int do_status(struct request *request)
{
	const struct hca_machine *machine = request->machine;
	const struct settings *settings = &machine->settings;
	unsigned int contexts = 0;

	for (int i = 0; i < settings->devices; i++)
		contexts += list_length(&machine->device[i].contexts);
	fprintf(request->out,
		"softhca: pid %d, %d devices of %d ports, %u contexts, %u files of rdma_cm\n",
		(int)getpid(), settings->devices, settings->ports, contexts,
		list_length(&machine->clients) - contexts);
	settings_print(settings, request->out);
	return 0;
}

static int do_stop(struct request *request)
{
	request->machine->stop = true;
	return 0;
}

/* What is fixed when the devices are made cannot be set later. */
static int do_set(struct request *request)
{
	static const char *const later[] = { "xrc", "open_qp", "strict", "nap" };
	struct settings changed = request->machine->settings;
	char why[512];
	int err;

	if (!strchr(request->word[1], '='))
		return control_usage(request);
	err = settings_take(&changed, request->word[1], why, sizeof(why));
	if (err) {
		fprintf(request->out, "%s\n", why);
		return err;
	}
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		size_t length = strlen(later[i]);

		if (!strncmp(request->word[1], later[i], length) &&
		    request->word[1][length] == '=') {
			request->machine->settings = changed;
			return 0;
		}
	}
	fprintf(request->out, "%s can be set only when softhca starts\n", request->word[1]);
	return -EINVAL;
}

static int do_trace(struct request *request)
{
	uint64_t count = TRACE_LENGTH;

	if (request->count == 2 && !control_parse(request->word[1], TRACE_LENGTH, &count))
		return control_usage(request);
	if (!count)
		return control_usage(request);
	trace_print(request->out, (unsigned int)count);
	return 0;
}

static const struct command {
	const char *name;
	int (*execute)(struct request *request);
	int least, most; /* words after the name */
	const char *usage;
} commands[] = {
	{ "status", do_status, 0, 0, "no argument" },
	{ "stop", do_stop, 0, 0, "no argument" },
	{ "objects", control_objects, 0, 1, "--json or nothing" },
	{ "counters", control_counters, 0, 0, "no argument" },
	{ "set", do_set, 1, 1, "one NAME=VALUE" },
	{ "event", control_event, 2, 3, "DEVICE NAME [NUMBER]" },
	{ "port", control_port, 3, 3, "DEVICE PORT up|down" },
	{ "migrate", control_migrate, 2, 2, "DEVICE NUMBER" },
	{ "fault", control_fault, 0, MAX_WORDS,
	  "nothing, or DEVICE|all and one of: drop RATE, corrupt RATE, duplicate RATE,\n"
	  "delay RATE MICROSECONDS, seed NUMBER, command NAME|any ERRNO [TIMES], off; a RATE is like\n"
	  "5%, 0.1% or 0" },
	{ "trace", do_trace, 0, 1, "a number of commands, 1 to 1024" },
};

_Static_assert(TRACE_LENGTH == 1024, "as the usage of trace says");

static int execute(struct request *request, const struct command *command)
{
	request->usage = command->usage;
	if (request->count - 1 < command->least || request->count - 1 > command->most)
		return control_usage(request);
	return command->execute(request);
}

static int dispatch(struct request *request)
{
	const int count = sizeof(commands) / sizeof(commands[0]);

	for (int i = 0; request->count && i < count; i++) {
		if (!strcmp(commands[i].name, request->word[0]))
			return execute(request, &commands[i]);
	}
	fprintf(request->out, "unknown command '%s'; there are:",
		request->count ? request->word[0] : "");
	for (int i = 0; i < count; i++)
		fprintf(request->out, " %s", commands[i].name);
	fputc('\n', request->out);
	return -EINVAL;
}

/* ---- words in, text out ---- */

static void split(struct request *request, const char *words, size_t size)
{
	const char *end = words + size;

	/* Text without a null byte at its end is not a word. */
	while (request->count < MAX_WORDS && words < end) {
		size_t length = strnlen(words, (size_t)(end - words));

		if (words + length == end)
			break;
		request->word[request->count++] = words;
		words += length + 1;
	}
}

int control_execute(struct hca_machine *machine, const char *words, size_t size, FILE *out)
{
	struct request request = { .machine = machine, .out = out };

	split(&request, words, size);
	return dispatch(&request);
}
