/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events for which a pipe has no room yet. */
#include "backlog.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void backlog_free(struct backlog *backlog)
{
	free(backlog->bytes);
	*backlog = (struct backlog){ 0 };
}

bool backlog_add(struct backlog *backlog, const void *record, size_t length)
{
	uint8_t *bytes = realloc(backlog->bytes, backlog->length + length);

	if (!bytes)
		return false;
	backlog->bytes = bytes;
	memcpy(backlog->bytes + backlog->length, record, length);
	backlog->length += length;
	return true;
}

uint32_t backlog_drop(struct backlog *backlog, uint64_t element, size_t record)
{
	uint32_t dropped = 0;
	size_t kept = 0;

	for (size_t at = 0; at + record <= backlog->length; at += record) {
		if (!memcmp(backlog->bytes + at, &element, sizeof(element))) {
			dropped++;
			continue;
		}
		memmove(backlog->bytes + kept, backlog->bytes + at, record);
		kept += record;
	}
	backlog->length = kept;
	return dropped;
}

void backlog_flush(struct backlog *backlog, int fd, size_t record)
{
	size_t at = 0;

	while (at < backlog->length && write(fd, backlog->bytes + at, record) == (ssize_t)record)
		at += record;
	backlog->length -= at;
	memmove(backlog->bytes, backlog->bytes + at, backlog->length);
	if (!backlog->length)
		backlog_free(backlog);
}
