/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The memory that a client shares with the daemon for rings and doorbell records. */
#ifndef SOFTHCA_ARENA_H
#define SOFTHCA_ARENA_H

#include <stdbool.h>
#include <stdint.h>

struct hca_context;
struct place;

/* The daemon's mapping of the client's memfd (proto.h has its layout). */
struct arena {
	uint8_t *file;
	uint64_t pages; /* 0 = none */
};

/* False if @fd is no such file: then everything works by system calls. @fd stays the caller's. */
bool arena_map(struct arena *arena, int fd, uint64_t pages);
void arena_unmap(struct arena *arena);

/*
 * Sets place->shared if the @length bytes of a new object's ring or record are in the arena. The
 * program may have unmapped memory of the arena unseen: MVAPICH and MVAPICH2 have a munmap() of
 * their own in the executable. So the client's table only says where to look, and a word that is
 * written here and read in the process proves it. A provider keeps the memory of a live object
 * mapped, so the proof holds until the object ends.
 */
void arena_find(const struct hca_context *ctx, struct place *place, uint64_t length);

#endif
