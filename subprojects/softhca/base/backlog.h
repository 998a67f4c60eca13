/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events for which a pipe has no room yet. As in the kernel there may be any number. */
#ifndef SOFTHCA_BACKLOG_H
#define SOFTHCA_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty backlog. */
struct backlog {
	uint8_t *bytes;
	size_t length;
};

void backlog_free(struct backlog *backlog);

/* False if there is no memory. */
bool backlog_add(struct backlog *backlog, const void *record, size_t length);

/* Removes the records that begin with these 8 bytes. Returns how many. */
uint32_t backlog_drop(struct backlog *backlog, uint64_t element, size_t record);

/* Moves to the descriptor what fits: whole records, which are far shorter than PIPE_BUF. */
void backlog_flush(struct backlog *backlog, int fd, size_t record);

#endif
