/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the legacy call that a thread is in, and its arguments, on the thread's stack. */
#include "tools/common/memory.h"
#include "stack.h"

#include <abi/verb.h>
#include <shim/tracer.h>
#include <string.h>

static const struct {
	const char *name, *arguments;
} functions[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, arguments },
	ABI_FUNCTIONS(X)
#undef X
};

/* The entry points of the library have these names before its symbols are stripped. */
#define INSIDE "shim_"

static int verb_at(const struct place *place)
{
	for (; place; place = place->outer) {
		const char *name = place->symbol;

		name += strncmp(name, INSIDE, strlen(INSIDE)) ? 0 : strlen(INSIDE);
		for (int verb = 0; verb < VERBS && strstr(place->module, "/libxrc-compat.so"); verb++) {
			size_t length = strlen(functions[verb].name);

			if (!strncmp(name, functions[verb].name, length) &&
			    (!name[length] || name[length] == '@'))
				return verb;
		}
	}
	return -1;
}

/* The frame of the entry point has a struct shim_call, somewhere. */
static uint64_t find_arguments(const struct stack *stack, size_t frame, int verb)
{
	uint64_t start = stack->frame[frame].pointer, end;
	struct shim_call call;

	end = frame + 1 < stack->frame_count ? stack->frame[frame + 1].pointer : start;
	for (uint64_t at = start; at + sizeof(call) <= end; at += sizeof(void *)) {
		if (stack_read(stack, at, &call, sizeof(call)) && (int)call.verb == verb &&
		    (uintptr_t)call.arguments - start < end - start)
			return (uintptr_t)call.arguments;
	}
	return 0;
}

/* "=name" is the result; ">name" is read after the call. */
static char *call_with(const struct stack *stack, uint64_t from, int verb)
{
	char *text = format_string("%s(", functions[verb].name);
	const char *name = functions[verb].arguments, *separator = "";
	size_t length;
	uint64_t word;

	for (; *name && *name != '='; name += length + (name[length] == ',')) {
		name += *name == '>';
		length = strcspn(name, ",");
		if (!stack_read(stack, from, &word, sizeof(word)))
			break;
		text = format_string("%s%s%.*s=%#llx", text, separator, (int)length, name,
				     (unsigned long long)word);
		separator = ", ";
		from += sizeof(word);
	}
	return format_string("%s)", text);
}

const struct place *stack_place(const struct stack *stack, size_t frame)
{
	uint64_t address = stack->frame[frame].address;
	struct image_file file = { .path = "" };

	image_find(stack->image, address, &file);
	return place_of(file.path, address - file.base);
}

const char *stack_legacy_call(const struct stack *stack)
{
	for (size_t i = 0; i < stack->frame_count; i++) {
		int verb = verb_at(stack_place(stack, i));
		uint64_t arguments = verb < 0 ? 0 : find_arguments(stack, i, verb);

		if (verb >= 0)
			return arguments ? call_with(stack, arguments, verb)
					 : format_string("%s()", functions[verb].name);
	}
	return NULL;
}
