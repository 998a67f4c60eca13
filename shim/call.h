/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A call under way, as `xrc-compat ps --stacks` finds it on the stack of a thread inside it. */
#ifndef SHIM_CALL_H
#define SHIM_CALL_H

#include <abi/verb.h>

#include <stdint.h>

/* Stands in the stack frame of an exported function. */
struct shim_call {
	enum verb verb;
	const uintptr_t *arguments;	/* those that abi/symbols.tab names; NULL: it names none */
	const struct event_holder *holders;	/* EVENT_HOLDERS of compat/event_holder.h */
};

#endif
