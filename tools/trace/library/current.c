/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The calls that are under way: begun and ended by the shim's one entry and exit. */
#include "internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <shim/tracer.h>

#include "arguments.h"

/* Calls can be nested: a provider may call one of our verbs from within another. */
struct call {
	struct call *outer;
	struct trace_record record;
};

/* Initial-exec: such a variable is there without memory being allocated for it in the program. */
static __thread __attribute__((tls_model("initial-exec"))) struct call *current;

uint64_t trace_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void take_before(struct trace_record *record, const uintptr_t *arguments)
{
	const char *rest = trace_parameters(record->verb);
	struct trace_parameter parameter;

	for (size_t i = 0;
	     i < TRACE_ARGUMENTS && trace_next(&rest, &parameter) && parameter.way != TRACE_MADE;
	     i++) {
		record->arguments[i] = arguments[i];
		if (parameter.way == TRACE_IN)
			trace_take(record, parameter.name, arguments[i]);
	}
}

static void take_after(struct trace_record *record)
{
	const char *rest = trace_parameters(record->verb);
	struct trace_parameter parameter;

	for (size_t i = 0; trace_next(&rest, &parameter); i++) {
		if (parameter.way == TRACE_MADE)
			trace_take(record, parameter.name, (uintptr_t)record->result);
		else if (parameter.way == TRACE_OUT)
			trace_take(record, parameter.name, (uintptr_t)record->arguments[i]);
	}
}

static void *enter(enum verb verb, const uintptr_t *arguments)
{
	struct call *call = trace_parameters(verb)[0] ? malloc(sizeof(*call)) : NULL;

	if (!call)
		return NULL;
	call->outer = current;
	call->record = (struct trace_record){ .magic = TRACE_MAGIC, .verb = verb,
					      .pid = (int32_t)getpid(),
		.tid = (int32_t)gettid() };
	take_before(&call->record, arguments);
	current = call;
	call->record.start = trace_now();
	return call;
}

static void drop(void *entered)
{
	struct call *call = entered;

	current = call->outer;
	free(call);
}

static void leave(void *entered, int64_t result, int err)
{
	struct trace_record *record = &((struct call *)entered)->record;

	record->duration = trace_now() - record->start;
	record->result = result;
	record->err = err;
	if (!err)
		take_after(record);
	trace_stack(record, (uintptr_t)__builtin_return_address(0));
	trace_send(record);
	drop(entered);
}

void trace_became(const char *name, uint64_t start, int err)
{
	struct trace_record *record = current ? &current->record : NULL;
	struct trace_became *became;

	if (!record || record->became_count++ >= TRACE_BECAME)
		return;
	became = &record->became[record->became_count - 1];
	strncpy(became->function, name, sizeof(became->function) - 1);
	became->duration = trace_now() - start;
	became->err = err;
}

#define SHIM_VERSIONS_xrc_trace_start \
	SHIM_VERSION(xrc_trace_start, 0, SHIM_TRACER "@" SHIM_TRACER_NODE)

const struct shim_tracer *shim_xrc_trace_start(unsigned int verbs)
{
	static const struct shim_tracer tracer = { .enter = enter, .leave = leave, .drop = drop };

	return verbs == VERBS ? &tracer : NULL;
}
SHIM_EXPORT(xrc_trace_start);
