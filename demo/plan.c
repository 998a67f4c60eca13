/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The messages that each receiver gets in a round, and the contents of each. */
#include <string.h>

#include "cluster.h"

/* Of all sizes, also next to MTUs. The writes of a round go to different places. */
const struct planned plan[PLAN_LENGTH] = {
	{ .kind = MESSAGE_SEND, .size = 1 },
	{ .kind = MESSAGE_SEND_IMM, .size = 1 },
	{ .kind = MESSAGE_WRITE, .size = 1, .offset = 0 },
	{ .kind = MESSAGE_SEND, .size = 255 },
	{ .kind = MESSAGE_SEND_IMM, .size = 2048 },
	{ .kind = MESSAGE_WRITE, .size = 4096, .offset = 64 },
	{ .kind = MESSAGE_SEND, .size = 4097 },
	{ .kind = MESSAGE_SEND_IMM, .size = 65536 },
	{ .kind = MESSAGE_WRITE, .size = 65536, .offset = 64 + 4096 },
	{ .kind = MESSAGE_SEND, .size = 300001 },
	{ .kind = MESSAGE_SEND_IMM, .size = MAX_MESSAGE },
	{ .kind = MESSAGE_WRITE, .size = MAX_MESSAGE, .offset = 64 + 4096 + 65536 },
};

uint64_t plan_key(uint32_t receiver, uint32_t round, uint32_t number, bool note)
{
	return (uint64_t)receiver << 48 | (uint64_t)round << 16 | (uint64_t)number << 1 | note;
}

uint32_t plan_imm(uint32_t receiver, uint32_t round, uint32_t number)
{
	return receiver << 24 | (round & 0xffff) << 8 | number;
}

/*
 * splitmix64: neighbouring keys and positions give unrelated words, so a misplaced byte is noticed.
 */
static uint64_t word_at(uint64_t key, uint64_t position)
{
	uint64_t x = key * 0x9e3779b97f4a7c15u + position * 0xd1342543de82ef95u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

void pattern_fill(void *buffer, uint32_t size, uint64_t key)
{
	for (uint32_t at = 0; at < size; at += 8) {
		uint64_t word = word_at(key, at);

		memcpy((char *)buffer + at, &word, size - at < 8 ? size - at : 8);
	}
}

uint32_t pattern_check(const void *buffer, uint32_t size, uint64_t key)
{
	for (uint32_t at = 0; at < size; at += 8) {
		const unsigned char *found = (const unsigned char *)buffer + at;
		unsigned char wanted[8];
		uint64_t word = word_at(key, at);

		memcpy(wanted, &word, 8);
		for (uint32_t i = 0; i < 8 && at + i < size; i++)
			if (found[i] != wanted[i])
				return at + i;
	}
	return size;
}
