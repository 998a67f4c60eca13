/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl fault`: how often the wire fails, and which command does. */
#include "request.h"

#include <uverbs/cmd.h>

#include <errno.h>
#include <string.h>

static const char *const kind_names[FAULT_KINDS] = {
	[FAULT_DROP] = "drop", [FAULT_DUPLICATE] = "duplicate", [FAULT_DELAY] = "delay",
};

/* ---- the faults that are in force ---- */

static void list_device(FILE *out, const struct hca_device *device)
{
	const struct faults *faults = &device->faults;

	fputs(device->name, out);
	for (int kind = 0; kind < FAULT_KINDS; kind++) {
		fprintf(out, " %s=%g%%", kind_names[kind],
			faults->rate[kind] * 100.0 / FAULT_ALWAYS);
		if (kind == FAULT_DELAY && faults->rate[kind])
			fprintf(out, "/%uus", faults->delay);
		fprintf(out, " hits=%llu", (unsigned long long)faults->hits[kind]);
	}
	for (int i = 0; i < FAULT_COMMANDS; i++) {
		const struct fault_command *planned = &faults->command[i];

		if (planned->times)
			fprintf(out, " %s=%s*%u",
				planned->command == FAULT_ANY ? "any" : cmd_name(planned->command),
				strerrorname_np(planned->err), planned->times);
	}
	fputc('\n', out);
}

static int list(struct request *request)
{
	for (int i = 0; i < request->machine->settings.devices; i++)
		list_device(request->out, &request->machine->device[i]);
	return 0;
}

/* ---- one change, to be made on one device or on all ---- */

struct change {
	enum { CLEAR, SEED, RATE, COMMAND } what;
	enum fault_kind kind;
	uint32_t rate, delay;
	uint64_t seed;
	struct fault_command planned;
	const char *wrong; /* the word that cannot be read, or NULL */
};

static int refuse_word(struct change *change, const char *word)
{
	change->wrong = word;
	return -EINVAL;
}

static int find_errno(const char *text)
{
	for (int i = 1; i < ERRNO_END; i++) {
		const char *name = strerrorname_np(i);

		if (name && !strcmp(name, text))
			return i;
	}
	return -EINVAL;
}

static int parse_command(int count, const char *const *word, struct change *change)
{
	uint64_t times = 1;

	if (count < 2 || count > 3)
		return -EINVAL;
	change->what = COMMAND;
	if (!strcmp(word[0], "any"))
		change->planned.command = FAULT_ANY;
	else if (cmd_number(word[0], &change->planned.command))
		return refuse_word(change, word[0]);
	change->planned.err = find_errno(word[1]);
	if (change->planned.err < 0)
		return refuse_word(change, word[1]);
	if ((count == 3 && !request_number(word[2], UINT32_MAX, &times)) || !times)
		return refuse_word(change, word[2]);
	change->planned.times = (uint32_t)times;
	return 0;
}

static int parse_rate(int count, const char *const *word, struct change *change)
{
	uint64_t delay = 0;

	change->what = RATE;
	if (count < 1)
		return -EINVAL;
	if (fault_parse_rate(word[0], &change->rate))
		return refuse_word(change, word[0]);
	if (change->kind != FAULT_DELAY)
		return count == 1 ? 0 : -EINVAL;
	if (count == 1)
		return change->rate ? -EINVAL : 0;
	if (count != 2)
		return -EINVAL;
	if (!request_number(word[1], FAULT_MAX_DELAY, &delay))
		return refuse_word(change, word[1]);
	change->delay = (uint32_t)delay;
	return 0;
}

static int parse_seed(int count, const char *const *word, struct change *change)
{
	change->what = SEED;
	if (count != 1)
		return -EINVAL;
	return request_number(word[0], UINT64_MAX, &change->seed) ? 0
								 : refuse_word(change, word[0]);
}

static int parse(int count, const char *const *word, struct change *change)
{
	if (!strcmp(word[0], "off")) {
		change->what = CLEAR;
		return count == 1 ? 0 : -EINVAL;
	}
	if (!strcmp(word[0], "seed"))
		return parse_seed(count - 1, word + 1, change);
	if (!strcmp(word[0], "command"))
		return parse_command(count - 1, word + 1, change);
	for (int kind = 0; kind < FAULT_KINDS; kind++) {
		change->kind = (enum fault_kind)kind;
		if (!strcmp(word[0], kind_names[kind]))
			return parse_rate(count - 1, word + 1, change);
	}
	return refuse_word(change, word[0]);
}

static void apply(const struct change *change, struct hca_device *device)
{
	struct faults *faults = &device->faults;

	switch (change->what) {
	case CLEAR:
		fault_clear(faults);
		break;
	case SEED:
		fault_seed(faults, change->seed + (uint64_t)device->index);
		break;
	case RATE:
		faults->rate[change->kind] = change->rate;
		if (change->kind == FAULT_DELAY)
			faults->delay = change->delay;
		break;
	case COMMAND:
		fault_plan_command(faults, change->planned.command, change->planned.err,
				   change->planned.times);
		break;
	}
}

/* Changes all of them or, after a message, none. */
static int apply_to(struct request *request, const struct change *change,
		    struct hca_device *devices, int count)
{
	for (int i = 0; change->what == COMMAND && i < count; i++) {
		if (!fault_is_full(&devices[i].faults))
			continue;
		fprintf(request->out, "%s has %d planned faults already\n", devices[i].name,
			FAULT_COMMANDS);
		return -ENOSPC;
	}
	for (int i = 0; i < count; i++)
		apply(change, &devices[i]);
	return 0;
}

int control_fault(struct request *request)
{
	struct change change = { 0 };
	struct hca_machine *machine = request->machine;
	struct hca_device *only;

	if (request->count == 1)
		return list(request);
	if (request->count < 3 || parse(request->count - 2, request->word + 2, &change)) {
		if (change.wrong)
			fprintf(request->out, "cannot read '%s'; ", change.wrong);
		return request_usage(request);
	}
	if (strcmp(request->word[1], "all")) {
		only = request_device(request, request->word[1]);
		return only ? apply_to(request, &change, only, 1) : -ENOENT;
	}
	return apply_to(request, &change, machine->device, machine->settings.devices);
}
