/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Memory that the daemon fills with records and another process writes into a file. */
#ifndef SOFTHCA_RING_H
#define SOFTHCA_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_BYTES (8u << 20)

/* There are always whole records between @taken and @put. Both count bytes, modulo 2^32. */
struct capture_ring {
	_Atomic uint32_t put;	/* by the daemon */
	_Atomic uint32_t taken; /* by the other process, when they are in the file */
	_Atomic uint32_t ended; /* nothing will be put any more */
	uint8_t bytes[RING_BYTES];
};

/* A ring in a memfd, whose pages are all there. NULL with *err; else the caller closes *fd. */
struct capture_ring *ring_create(int *fd, int *err);
struct capture_ring *ring_map(int fd);
void ring_unmap(struct capture_ring *ring);

/* Puts a record, if there is room for it and for @reserve more bytes. */
bool ring_put(struct capture_ring *ring, const void *record, uint32_t length, uint32_t reserve);

/* Appends all records to the file. 0, or -errno: then some are there but not taken. */
int ring_write(struct capture_ring *ring, int file);

/*
 * The writer has ended, perhaps in the midst of a record, and left @size bytes, @written of them in
 * records that it has taken. Returns how many are in whole records, which begin with their type and
 * their length. *lost = the records of @type that are not whole in the file.
 */
uint64_t ring_whole(const struct capture_ring *ring, uint64_t written, uint64_t size, uint32_t type,
		    uint64_t *lost);

#endif
