/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The blocks of a pcapng file, one interface for each port. */
#ifndef SOFTHCA_PCAPNG_H
#define SOFTHCA_PCAPNG_H

#include <stddef.h>
#include <stdint.h>

/* the type of a packet's block */
#define PCAPNG_PACKET 6u

#define BLOCK_BYTES 8704u /* the largest frame and the fields of its block */

struct block {
	uint32_t length;
	uint8_t bytes[BLOCK_BYTES];
};

/* Times are nanoseconds since 1970. */
void pcapng_section(struct block *block);
void pcapng_interface(struct block *block, uint16_t link_type, uint32_t snap, const char *name);
void pcapng_packet(struct block *block, uint32_t interface, uint64_t time, const void *bytes,
		   uint32_t captured, uint32_t on_wire);
void pcapng_statistics(struct block *block, uint32_t interface, uint64_t time, uint64_t sent,
		       uint64_t dropped);

#endif
