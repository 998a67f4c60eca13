/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes netlink messages. If memory runs out, the writer goes on and the whole answer is lost. */
#ifndef SOFTHCA_CONTROL_NL_H
#define SOFTHCA_CONTROL_NL_H

#include <stddef.h>
#include <stdint.h>

struct nl {
	uint8_t *bytes;
	size_t length, room;
	int failed;
};

/* Both begin something that nl_end() ends; its place in the bytes. */
size_t nl_message(struct nl *nl, uint16_t type, uint16_t flags, uint32_t seq);
size_t nl_nest(struct nl *nl, uint16_t attribute);
void nl_end(struct nl *nl, size_t begin);

void nl_attribute(struct nl *nl, uint16_t attribute, const void *bytes, size_t length);
void nl_u8(struct nl *nl, uint16_t attribute, uint8_t value);
void nl_u32(struct nl *nl, uint16_t attribute, uint32_t value);
void nl_u64(struct nl *nl, uint16_t attribute, uint64_t value);
void nl_text(struct nl *nl, uint16_t attribute, const char *text);
/* Without a header of its own. */
void nl_raw(struct nl *nl, const void *bytes, size_t length);

/* The u32 of this attribute in a request, or @other. */
uint32_t nl_find_u32(const uint8_t *bytes, size_t length, uint16_t attribute, uint32_t other);

#endif
