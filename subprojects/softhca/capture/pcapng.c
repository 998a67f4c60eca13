/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The blocks of a pcapng file, one interface for each port. */
#include "pcapng.h"

#include <string.h>

#define SECTION	   0x0a0d0d0au /* types of blocks */
#define INTERFACE  1u
#define STATISTICS 5u

#define BYTE_ORDER_MAGIC 0x1a2b3c4du

enum { IF_NAME = 2, IF_TSRESOL = 9, ISB_IFRECV = 4, ISB_IFDROP = 5, SHB_USERAPPL = 4 };

/* Appends to a block under construction. Its fields have the order of this machine. */
static void add(struct block *block, const void *bytes, size_t length)
{
	memcpy(block->bytes + block->length, bytes, length);
	memset(block->bytes + block->length + length, 0, -length & 3);
	block->length += (uint32_t)((length + 3) & ~(size_t)3);
}

static void add32(struct block *block, uint32_t value)
{
	add(block, &value, sizeof(value));
}

static void add16s(struct block *block, uint16_t first, uint16_t second)
{
	const uint16_t both[2] = { first, second };

	add(block, both, sizeof(both));
}

static void add_option(struct block *block, uint16_t code, const void *bytes, uint16_t length)
{
	add16s(block, code, length);
	add(block, bytes, length);
}

/* The length comes at both ends of a block. */
static void begin(struct block *block, uint32_t type)
{
	block->length = 0;
	add32(block, type);
	add32(block, 0);
}

static void end(struct block *block)
{
	const uint32_t length = block->length + (uint32_t)sizeof(length);

	memcpy(block->bytes + sizeof(length), &length, sizeof(length));
	add32(block, length);
}

static void end_options(struct block *block)
{
	add16s(block, 0, 0);
	end(block);
}

void pcapng_section(struct block *block)
{
	static const uint8_t unknown_length[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const char program[] = "softhca";

	begin(block, SECTION);
	add32(block, BYTE_ORDER_MAGIC);
	add16s(block, 1, 0);
	add(block, unknown_length, sizeof(unknown_length));
	add_option(block, SHB_USERAPPL, program, sizeof(program) - 1);
	end_options(block);
}

void pcapng_interface(struct block *block, uint16_t link_type, uint32_t snap, const char *name)
{
	static const uint8_t nanoseconds = 9;

	begin(block, INTERFACE);
	add16s(block, link_type, 0);
	add32(block, snap);
	add_option(block, IF_NAME, name, (uint16_t)strlen(name));
	add_option(block, IF_TSRESOL, &nanoseconds, sizeof(nanoseconds));
	end_options(block);
}

static void add_time(struct block *block, uint64_t time)
{
	add32(block, (uint32_t)(time >> 32));
	add32(block, (uint32_t)time);
}

void pcapng_packet(struct block *block, uint32_t interface, uint64_t time, const void *bytes,
		   uint32_t captured, uint32_t on_wire)
{
	begin(block, PCAPNG_PACKET);
	add32(block, interface);
	add_time(block, time);
	add32(block, captured);
	add32(block, on_wire);
	add(block, bytes, captured);
	end(block);
}

void pcapng_statistics(struct block *block, uint32_t interface, uint64_t time, uint64_t sent,
		       uint64_t dropped)
{
	begin(block, STATISTICS);
	add32(block, interface);
	add_time(block, time);
	add_option(block, ISB_IFRECV, &sent, sizeof(sent));
	add_option(block, ISB_IFDROP, &dropped, sizeof(dropped));
	end_options(block);
}
