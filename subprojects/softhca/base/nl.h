/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes netlink messages. If one becomes too long, the whole answer is lost. */
#ifndef SOFTHCA_NL_H
#define SOFTHCA_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NL_DEPTH 5

struct nl {
	FILE *out;
	uint8_t bytes[65536]; /* of the message that is not complete yet */
	size_t length;
	size_t open[NL_DEPTH]; /* the beginning of the message, and of each attribute in it */
	unsigned int depth;
	unsigned int messages; /* complete ones */
	bool failed;
};

void nl_message(struct nl *nl, uint16_t type, uint16_t flags, uint32_t seq);
/* Begins an attribute that contains others; nl_end() ends the one that was begun last. */
void nl_nest(struct nl *nl, uint16_t attribute);
void nl_end(struct nl *nl);
/* Ends the message, with all that is open in it. One that has @failed is not written. */
void nl_end_message(struct nl *nl);

void nl_attribute(struct nl *nl, uint16_t attribute, const void *bytes, size_t length);
void nl_u8(struct nl *nl, uint16_t attribute, uint8_t value);
void nl_u32(struct nl *nl, uint16_t attribute, uint32_t value);
void nl_u64(struct nl *nl, uint16_t attribute, uint64_t value);
void nl_text(struct nl *nl, uint16_t attribute, const char *text);
/* Appends bytes without a header, as the kernel does behind some headers of messages. */
void nl_raw(struct nl *nl, const void *bytes, size_t length);

#endif
