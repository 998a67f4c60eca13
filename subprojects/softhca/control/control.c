/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Executes `softhca status`, `stop` and `ctl` in the daemon: one table of the commands. */
#include "control.h"
#include "request.h"

#include <fabric/fabric.h>
#include <machine/trace.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	fabric_print(request->out);
	return 0;
}

static int do_stop(struct request *request)
{
	request->machine->stop = true;
	return 0;
}

/* All other settings are fixed when the devices are made. */
static bool can_be_changed(const char *setting)
{
	static const char *const names[] = { "xrc", "open_qp", "strict", "nap" };
	size_t length = strcspn(setting, "=");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == length && !strncmp(setting, names[i], length))
			return true;
	}
	return false;
}

static int do_set(struct request *request)
{
	struct settings changed = request->machine->settings;
	char why[512];
	int err;

	if (!strchr(request->word[1], '='))
		return request_usage(request);
	err = settings_take(&changed, request->word[1], why, sizeof(why));
	/* -ENOENT: there is no such setting. */
	if (err != -ENOENT && !can_be_changed(request->word[1])) {
		fprintf(request->out, "%.*s can be set only when softhca starts\n",
			(int)strcspn(request->word[1], "="), request->word[1]);
		return -EINVAL;
	}
	if (err) {
		fprintf(request->out, "%s\n", why);
		return err;
	}
	request->machine->settings = changed;
	return 0;
}

static int do_trace(struct request *request)
{
	uint64_t count = TRACE_LENGTH;

	if ((request->count == 2 && !request_number(request->word[1], TRACE_LENGTH, &count)) ||
	    !count)
		return request_usage(request);
	trace_print(request->out, (unsigned int)count);
	return 0;
}

static const struct command commands[] = {
	{ "status", do_status, 0, 0, "", "says that it runs, and with which settings" },
	{ "stop", do_stop, 0, 0, "", "ends it" },
	{ "objects", control_objects, 0, 0, "", "lists what every process holds, as JSON" },
	{ "counters", control_counters, 0, 0, "",
	  "shows what devices and QPs have done, and what QPs wait for" },
	{ "set", do_set, 1, 1, "NAME=VALUE", "changes xrc, open_qp, strict or nap" },
	{ "event", control_event, 2, 3, "DEVICE NAME [NUMBER]", "raises an asynchronous event" },
	{ "port", control_port, 3, 3, "DEVICE PORT up|down", "takes a port down, or up again" },
	{ "migrate", control_migrate, 2, 2, "DEVICE NUMBER",
	  "has a QP go over to its alternate path, if it is armed" },
	{ "fault", control_fault, 0, MAX_WORDS, "[DEVICE|all FAULT]",
	  "shows which faults are set, and how often they struck; or sets one: "
	  "drop RATE, duplicate RATE, delay RATE MICROSECONDS, seed NUMBER, "
	  "command NAME|any ERRNO [TIMES], off; a RATE is like 5%, 0.1% or 0" },
	{ "capture", control_capture, 0, 1, "[FILE [--snap=BYTES]|--stop]",
	  "writes what is sent to a new file, for Wireshark, at most so many bytes of each packet; "
	  "stops that; or says how far it is" },
	{ "trace", do_trace, 0, 1, "[COUNT]",
	  "shows the last commands and their results, at most 1024" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

_Static_assert(TRACE_LENGTH == 1024, "as the help of trace says");

void control_help(FILE *out)
{
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %s%s%s\n        %s\n", commands[i].name,
			commands[i].words[0] ? " " : "", commands[i].words, commands[i].help);
}

/* Ends a message about an unknown command with the names that there are. */
static void print_names(FILE *out)
{
	fputs("; there are:", out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, " %s", commands[i].name);
	fputc('\n', out);
}

static int dispatch(struct request *request)
{
	const int words = request->count - 1;

	for (size_t i = 0; request->count && i < COMMANDS; i++) {
		if (strcmp(commands[i].name, request->word[0]))
			continue;
		request->command = &commands[i];
		return words < commands[i].least || words > commands[i].most
			       ? request_usage(request)
			       : commands[i].execute(request);
	}
	fprintf(request->out, "unknown command '%s'", request->count ? request->word[0] : "");
	print_names(request->out);
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
