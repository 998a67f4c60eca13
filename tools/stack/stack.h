/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Stacks of other processes and of core files, and the names of their frames. */
#ifndef TOOLS_STACK_H
#define TOOLS_STACK_H

#include <tools/tools_config.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- names ---- */

/* The function and the line of the source that an address of a program or library is in. */
struct place {
	const char *module;
	uint64_t offset;	/* in the module */
	const char *symbol;	/* "" unknown, or without addr2line(1) */
	const char *line;	/* "file.c:12"; "" without debug information */
	struct place *outer;	/* where this function is inlined; NULL: it is not */
	struct place *next;	/* the list of place_of() */
};

/* The innermost function there. Asks addr2line(1) once: the same address has the same pointer. */
const struct place *place_of(const char *module, uint64_t offset);

/* A line: "function (file.c:34, program+0x1234)". */
void place_print(FILE *out, const struct place *place);

/* A numbered line for @place and each function that @place is inlined in, as in a debugger. */
void place_print_all(FILE *out, const char *indent, const struct place *place,
		     unsigned int *number);

/* ---- stacks ---- */

#define STACK_FRAMES 64

struct stack {
	pid_t thread;
	unsigned int stop_us;	/* how long the thread was stopped at most */
	const char *call;	/* the legacy function that the thread is in; NULL: in none */
	size_t frame_count;
	struct {
		uint64_t address;	/* the call; in the innermost frame the next instruction */
		const struct place *place;
	} frame[STACK_FRAMES];	/* the innermost first */
};

typedef void stack_visit(const struct stack *stack);

/* Those that return an int give 0 or -errno. Without libdw stack_of_stopped() does nothing. */

#ifdef TOOLS_LIBDW
/* Stops one thread after the other for a moment. -EBUSY: one of them did not stop. */
int stacks_of_process(pid_t process, stack_visit *visit);

/* The thread that died is first. */
int stacks_of_core(const char *file, stack_visit *visit);

/* Fills in the stack of a thread that the caller traces and that has stopped. */
void stack_of_stopped(pid_t process, struct stack *stack);
#else
#define stacks_of_process(process, visit) ((void)(process), (void)(visit), -ENOSYS)
#define stacks_of_core(file, visit) ((void)(file), (void)(visit), -ENOSYS)
#define stack_of_stopped(process, stack) ((void)(process), (void)(stack))
#endif

#endif
