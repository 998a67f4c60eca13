/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The pages of the doorbell records of a context's objects, which the daemon shares. */
#ifndef SOFTHCA_RINGS_RECORDS_H
#define SOFTHCA_RINGS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record {
	uint64_t page;
	uint32_t destroy, handle; /* the command that destroys the object, and its number */
	bool shared, new;	  /* new: the daemon has not executed the command yet */
};

struct records {
	struct record *entry;
	size_t count, room; /* room: in bytes */
};

/* libmlx5 has taken this from the heap, in this thread. */
void records_taken(const void *memory);
/*
 * Before the daemon executes @command of libmlx5: shares the page of a new object's record. 0, or
 * -ENOMEM: the object must not be made, because its page could be moved while it is used.
 */
int records_before(struct records *records, const uint64_t *command, size_t length);
/* After the daemon has executed it, with the result. */
void records_after(struct records *records, const uint64_t *command, size_t length, int err);
/* Moves all pages out of the arena. */
void records_free(struct records *records);

#endif
