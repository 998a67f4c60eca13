/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The last commands of programs. */
#ifndef SOFTHCA_TRACE_H
#define SOFTHCA_TRACE_H

#include <stdio.h>
#include <sys/types.h>

#define TRACE_LENGTH 1024u /* commands that are remembered */

struct hca_machine;

/*
 * Remembers the command @name of @pid to @device, and writes it to the trace file if there is one.
 * @result is 0 or -errno; then the check that refused it is the last of refuse.h.
 */
void trace_note(const struct hca_machine *machine, const char *device, pid_t pid, const char *name,
		int result);

/* The last @count commands that are remembered, the oldest first. */
void trace_print(FILE *out, unsigned int count);

#endif
