/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The commands that programs gave, with their results. */
#ifndef SOFTHCA_TRACE_H
#define SOFTHCA_TRACE_H

#include <softhca/cm/cm.h>

#include <stdio.h>

/* Remembers a command, and writes it to the trace file if there is one. @result is 0 or -errno. */
void trace_note(const struct hca_context *ctx, uint32_t command, int result);

/* The same of a command to the connection manager. */
void trace_note_cm(const struct cm_file *file, uint32_t command, int result);

/* The last @count commands that are remembered, the oldest first. */
void trace_print(FILE *out, unsigned int count);

#define TRACE_LENGTH 1024u

#endif
