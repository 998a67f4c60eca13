/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's side of `softhca status`, `stop` and `ctl`. */
#include "control.h"
#include "listing.h"
#include "request.h"

#include <softhca/machine/trace.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what the commands name ---- */

struct hca_device *control_device(struct request *request, const char *name)
{
	struct hca_device *device = machine_device(request->machine, name);

	if (device)
		return device;
	fprintf(request->out, "no device %s\n", name);
	return NULL;
}

bool control_number(struct request *request, const char *word, uint32_t *number)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(word, &end, 0);
	if (word[0] >= '0' && word[0] <= '9' && !*end && !errno && value <= UINT32_MAX) {
		*number = (uint32_t)value;
		return true;
	}
	fprintf(request->out, "'%s' is no number\n", word);
	return false;
}

bool control_is_alone(struct request *request)
{
	if (request->count == 1)
		return true;
	fprintf(request->out, "%s takes no words\n", request->word[0]);
	return false;
}

int control_no_target(struct request *request, const char *what, uint32_t number)
{
	fprintf(request->out, "no %s %u on this device\n", what, number);
	return -ENOENT;
}

/* ---- commands ---- */

static int do_status(struct request *request)
{
	const struct settings *settings = &request->machine->settings;

	if (!control_is_alone(request))
		return -EINVAL;
	fprintf(request->out, "softhca: pid %d, %d devices of %d ports, %u contexts\n",
		(int)getpid(), settings->devices, settings->ports,
		machine_clients(request->machine));
	fprintf(request->out,
		"model=%s xrc=%s open_qp=%s open_events=%s strict=%s arena=%s nap=%d\n",
		settings->model->name, settings->xrc ? "on" : "off",
		settings->open_qp ? "on" : "off", settings->open_events ? "on" : "off",
		settings->strict ? "on" : "off", settings->arena ? "on" : "off", settings->nap);
	return 0;
}

static int do_stop(struct request *request)
{
	if (!control_is_alone(request))
		return -EINVAL;
	request->machine->stop = true;
	return 0;
}

static int do_objects(struct request *request)
{
	bool json = request->count == 2 && !strcmp(request->word[1], "--json");

	if (request->count > 1 && !json) {
		fprintf(request->out, "objects takes --json or nothing\n");
		return -EINVAL;
	}
	listing_objects(request->machine, request->out, json);
	return 0;
}

/* What is fixed when the devices are made cannot be set later. */
static int do_set(struct request *request)
{
	static const char *const later[] = { "xrc", "open_qp", "strict", "nap" };
	struct settings changed = request->machine->settings;
	char why[512];
	int err;

	if (request->count != 2 || !strchr(request->word[1], '=')) {
		fprintf(request->out, "set takes one NAME=VALUE\n");
		return -EINVAL;
	}
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

/* trace [COUNT] */
static int do_trace(struct request *request)
{
	unsigned long count = TRACE_LENGTH;
	char *end = "";

	if (request->count == 2)
		count = strtoul(request->word[1], &end, 10);
	if (request->count > 2 || *end || !count || count > TRACE_LENGTH) {
		fprintf(request->out, "trace takes a number of commands, 1 to %u\n", TRACE_LENGTH);
		return -EINVAL;
	}
	trace_print(request->out, (unsigned int)count);
	return 0;
}

static const struct {
	const char *name;
	int (*execute)(struct request *request);
} commands[] = {
	{ "status", do_status }, { "stop", do_stop },   { "objects", do_objects },
	{ "counters", control_counters }, { "set", do_set },     { "event", control_event },
	{ "port", control_port }, { "migrate", control_migrate }, { "fault", control_fault },
	{ "trace", do_trace },
};

static int dispatch(struct request *request)
{
	const int count = sizeof(commands) / sizeof(commands[0]);

	for (int i = 0; request->count && i < count; i++) {
		if (!strcmp(commands[i].name, request->word[0]))
			return commands[i].execute(request);
	}
	fprintf(request->out, "unknown command '%s'; there are: top",
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

int control_publish(const void *bytes, size_t length)
{
	int fd = memfd_create("softhca-text", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, bytes, length) != (ssize_t)length) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int control_execute(struct hca_machine *machine, const char *words, size_t size, int32_t *status,
		    uint32_t *length)
{
	struct request request = { .machine = machine };
	char *text = NULL;
	size_t text_length = 0;
	int fd;

	request.out = open_memstream(&text, &text_length);
	if (!request.out) {
		*status = -ENOMEM;
		return -1;
	}
	split(&request, words, size);
	*status = dispatch(&request);
	if (fclose(request.out)) {
		*status = -ENOMEM;
		free(text);
		return -1;
	}
	fd = control_publish(text, text_length);
	*length = (uint32_t)text_length;
	free(text);
	return fd;
}
