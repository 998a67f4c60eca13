/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The checksums of packets. Eight bytes at a time: byte by byte takes longer than the rest. */
#include "capture.h"

#include <endian.h>
#include <string.h>

#define AT_ONCE 8

/* of[n][b]: what byte b contributes if n zero bytes follow. */
struct table {
	uint32_t polynomial; /* bits reversed */
	uint32_t of[AT_ONCE][256];
};

static struct table icrc = { .polynomial = 0xedb88320 };  /* of Ethernet, 0x04c11db7 */
static struct table vcrc = { .polynomial = 0xd008 };	  /* 0x100b, 16 bits */

static uint32_t shift(const struct table *table, uint32_t crc)
{
	for (int bit = 0; bit < 8; bit++)
		crc = crc >> 1 ^ (crc & 1 ? table->polynomial : 0);
	return crc;
}

static void fill(struct table *table)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int n = 0; n < AT_ONCE; n++)
			table->of[n][byte] = crc = shift(table, crc);
	}
}

static uint32_t load32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint32_t four(const uint32_t of[][256], uint32_t bytes)
{
	return of[3][bytes & 0xff] ^ of[2][bytes >> 8 & 0xff] ^ of[1][bytes >> 16 & 0xff] ^
	       of[0][bytes >> 24];
}

static uint32_t go_on(struct table *table, uint32_t crc, const uint8_t *bytes, size_t length)
{
	if (!table->of[0][1])
		fill(table);
	for (; length >= AT_ONCE; length -= AT_ONCE, bytes += AT_ONCE)
		crc = four(table->of + 4, crc ^ load32(bytes)) ^ four(table->of, load32(bytes + 4));
	for (; length; length--, bytes++)
		crc = crc >> 8 ^ table->of[0][(crc ^ *bytes) & 0xff];
	return crc;
}

uint32_t crc_icrc(uint32_t crc, const uint8_t *bytes, size_t length)
{
	return go_on(&icrc, crc, bytes, length);
}

uint16_t crc_vcrc(const uint8_t *bytes, size_t length)
{
	return (uint16_t)~go_on(&vcrc, 0xffff, bytes, length);
}
