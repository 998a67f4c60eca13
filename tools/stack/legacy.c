/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the legacy call that a thread is in, and its arguments, on the thread's stack. */
#include "stack.h"

#include <abi/verb.h>
#include <compat/event_holder.h>
#include <shim/tracer.h>
#include <tools/common/memory.h>

#include <string.h>

static const struct {
	const char *name, *arguments;
} functions[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, arguments },
	ABI_FUNCTIONS(X)
#undef X
};

#define LIBRARY_SIZE (16 << 20)	/* more than it has */

static bool is_ours(const struct stack *stack, size_t frame, struct image_file *file)
{
	return image_find(stack->image, stack->frame[frame].address, file) &&
	       strstr(file->path, "/libxrc-compat.so");
}

/*
 * The frame of an exported function has it, somewhere; or the frame of the function that it calls
 * for programs with XRC, if the compiler made that no jump. @base: that of the library.
 */
static bool find_call(const struct stack *stack, size_t frame, uint64_t base,
		      struct shim_call *call)
{
	uint64_t start = stack->frame[frame].pointer, end;

	end = frame + 1 < stack->frame_count ? stack->frame[frame + 1].pointer : start;
	for (uint64_t at = start; at + sizeof(*call) <= end; at += sizeof(void *)) {
		if (stack_read(stack, at, call, sizeof(*call)) &&
		    (unsigned int)call->verb < VERBS &&
		    (uintptr_t)call->holders - base < LIBRARY_SIZE &&
		    (!call->arguments || (uintptr_t)call->arguments - start < end - start))
			return true;
	}
	return false;
}

/* "=name" is the result; ">name" is read after the call. */
static char *with_arguments(const struct stack *stack, const struct shim_call *call)
{
	char *text = format_string("%s(", functions[call->verb].name);
	const char *name = functions[call->verb].arguments, *separator = "";
	uint64_t from = (uintptr_t)call->arguments, word;
	size_t length;

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

/* These wait until the events of their object are acknowledged. */
static char *with_holders(const struct stack *stack, const struct shim_call *call, char *text)
{
	struct event_holder holders[EVENT_HOLDERS];
	uint64_t object;

	if ((call->verb != VERB_ibv_destroy_qp && call->verb != VERB_ibv_destroy_srq) ||
	    !stack_read(stack, (uintptr_t)call->arguments, &object, sizeof(object)) ||
	    !stack_read(stack, (uintptr_t)call->holders, holders, sizeof(holders)))
		return text;
	for (int i = 0; i < EVENT_HOLDERS; i++) {
		if (holders[i].object == object)
			text = format_string("%s, waits for thread %d, which holds an event of it",
					     text, holders[i].thread);
	}
	return text;
}

const struct place *stack_place(const struct stack *stack, size_t frame)
{
	uint64_t address = stack->frame[frame].address;
	struct image_file file = { .path = "" };

	image_find(stack->image, address, &file);
	return place_of(file.path, address - file.base);
}

/* The outermost is what the program called. A provider may call another function from there. */
const char *stack_legacy_call(const struct stack *stack)
{
	struct image_file file;
	struct shim_call call;

	for (size_t i = stack->frame_count; i-- > 0;) {
		if (is_ours(stack, i, &file) && find_call(stack, i, file.base, &call))
			return with_holders(stack, &call, with_arguments(stack, &call));
	}
	return NULL;
}
