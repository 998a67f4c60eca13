/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes netlink messages and attributes. */
#include "nl.h"

#include <assert.h>
#include <linux/netlink.h>
#include <string.h>

#define ALIGNED(length) (((length) + 3u) & ~(size_t)3u)

void nl_raw(struct nl *nl, const void *bytes, size_t length)
{
	if (nl->failed || ALIGNED(length) > sizeof(nl->bytes) - nl->length) {
		nl->failed = true;
		return;
	}
	memset(nl->bytes + nl->length, 0, ALIGNED(length));
	if (length)
		memcpy(nl->bytes + nl->length, bytes, length);
	nl->length += ALIGNED(length);
}

void nl_attribute(struct nl *nl, uint16_t type, const void *bytes, size_t length)
{
	const struct nlattr header = { (uint16_t)(sizeof(header) + length), type };

	nl_raw(nl, &header, sizeof(header));
	nl_raw(nl, bytes, length);
}

static void begin(struct nl *nl)
{
	assert(nl->depth < NL_DEPTH);
	nl->open[nl->depth++] = nl->length;
}

void nl_message(struct nl *nl, uint16_t type, uint16_t flags, uint32_t seq)
{
	const struct nlmsghdr header = { .nlmsg_type = type,
					 .nlmsg_flags = flags,
					 .nlmsg_seq = seq };

	begin(nl);
	nl_raw(nl, &header, sizeof(header));
}

void nl_nest(struct nl *nl, uint16_t attribute)
{
	begin(nl);
	nl_attribute(nl, attribute | NLA_F_NESTED, NULL, 0);
}

/* Both headers begin with their length: that of an attribute has 16 bits, that of a message 32. */
void nl_end(struct nl *nl)
{
	size_t begin = nl->open[--nl->depth];
	uint32_t length = (uint32_t)(nl->length - begin);
	uint16_t half = (uint16_t)length;

	if (nl->failed)
		return;
	if (nl->depth)
		memcpy(nl->bytes + begin, &half, sizeof(half));
	else
		memcpy(nl->bytes + begin, &length, sizeof(length));
}

void nl_end_message(struct nl *nl)
{
	while (nl->depth)
		nl_end(nl);
	if (nl->failed)
		return;
	fwrite(nl->bytes, 1, nl->length, nl->out);
	nl->length = 0;
	nl->messages++;
}

void nl_u8(struct nl *nl, uint16_t attribute, uint8_t value)
{
	nl_attribute(nl, attribute, &value, sizeof(value));
}

void nl_u32(struct nl *nl, uint16_t attribute, uint32_t value)
{
	nl_attribute(nl, attribute, &value, sizeof(value));
}

void nl_u64(struct nl *nl, uint16_t attribute, uint64_t value)
{
	nl_attribute(nl, attribute, &value, sizeof(value));
}

void nl_text(struct nl *nl, uint16_t attribute, const char *text)
{
	nl_attribute(nl, attribute, text, strlen(text) + 1);
}
