/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the legacy call that a thread is in, and its arguments, on the thread's stack. */
#include "image.h"

#include <abi/verb.h>
#include <compat/event_holder.h>
#include <shim/call.h>
#include <tools/text/memory.h>

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
#define FRAME_SIZE 4096		/* more than a frame of it has */

/* The base of libxrc-compat if the address is in that library, else 0. */
static uint64_t our_library(const struct image *image, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(image->dwfl, address);
	Dwarf_Addr start = 0;
	const char *name = "";

	if (module)
		name = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
	return strstr(name, "libxrc-compat.so") ? start : 0;
}

/*
 * Finds the struct in the frame of an exported function, or of the function that the exported
 * function calls for programs with XRC, unless the call is a jump. @base: of the library.
 */
static bool find_call(const struct image *image, const struct stack *stack, size_t frame,
		      uint64_t base, struct shim_call *call)
{
	uint64_t start = stack->frame[frame].pointer, size = 0;
	unsigned char memory[FRAME_SIZE];

	if (frame + 1 < stack->frame_count)
		size = stack->frame[frame + 1].pointer - start;
	if (size > sizeof(memory) || !image_read(image, start, memory, size))
		return false;
	for (size_t at = 0; at + sizeof(*call) <= size; at += sizeof(void *)) {
		memcpy(call, memory + at, sizeof(*call));
		if ((unsigned int)call->verb < VERBS &&
		    (uintptr_t)call->holders - base < LIBRARY_SIZE &&
		    (!call->arguments || (uintptr_t)call->arguments - start < size))
			return true;
	}
	return false;
}

/* "=name" is the result; ">name" is read after the call. */
static char *with_arguments(const struct image *image, const struct shim_call *call)
{
	char *text = format_string("%s(", functions[call->verb].name);
	const char *name = functions[call->verb].arguments, *separator = "";
	uint64_t from = (uintptr_t)call->arguments, word;
	size_t length;

	for (; *name && *name != '='; name += length + (name[length] == ',')) {
		name += *name == '>';
		length = strcspn(name, ",");
		if (!image_read(image, from, &word, sizeof(word)))
			break;
		text = format_string("%s%s%.*s=%#llx", text, separator, (int)length, name,
				     (unsigned long long)word);
		separator = ", ";
		from += sizeof(word);
	}
	return format_string("%s)", text);
}

/* The two verbs wait until all events of their object are acknowledged. */
static char *with_holders(const struct image *image, const struct shim_call *call, char *text)
{
	struct event_holder holders[EVENT_HOLDERS];
	uint64_t object;

	if ((call->verb != VERB_ibv_destroy_qp && call->verb != VERB_ibv_destroy_srq) ||
	    !image_read(image, (uintptr_t)call->arguments, &object, sizeof(object)) ||
	    !image_read(image, (uintptr_t)call->holders, holders, sizeof(holders)))
		return text;
	for (int i = 0; i < EVENT_HOLDERS; i++) {
		if (holders[i].object == object)
			text = format_string("%s, waits for thread %d, which holds an event of it",
					     text, holders[i].thread);
	}
	return text;
}

/* The outermost call is the program's. A provider may call another function from there. */
const char *find_legacy_call(const struct image *image, const struct stack *stack)
{
	struct shim_call call;

	for (size_t i = stack->frame_count; i-- > 0;) {
		uint64_t base = our_library(image, stack->frame[i].address);

		if (base && find_call(image, stack, i, base, &call))
			return with_holders(image, &call, with_arguments(image, &call));
	}
	return NULL;
}
