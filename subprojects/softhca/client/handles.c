/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The CQs and QPs of a context by their handles. */
#include "client.h"

#include <infiniband/verbs.h>
#include <stdlib.h>

void handles_add(struct handles *handles, uint64_t object, uint64_t response)
{
	struct handle handle = { .object = (void *)(uintptr_t)object };
	struct handle *more;

	if (!peek(&handle.number, (const void *)(uintptr_t)response, sizeof(handle.number)))
		return;
	more = realloc(handles->entry, (handles->count + 1) * sizeof(*more));
	if (!more)
		return;
	handles->entry = more;
	handles->entry[handles->count++] = handle;
}

void handles_drop(struct handles *handles, uint32_t number)
{
	for (size_t i = 0; i < handles->count; i++) {
		if (handles->entry[i].number != number)
			continue;
		handles->entry[i] = handles->entry[--handles->count];
		return;
	}
}

void *handles_find(const struct handles *handles, uint32_t number)
{
	for (size_t i = 0; i < handles->count; i++) {
		if (handles->entry[i].number == number)
			return handles->entry[i].object;
	}
	return NULL;
}

/* The first member of a CQ, and of a QP, is its context. */
struct ibv_context *handles_context(const void *object, int fd)
{
	struct ibv_context *context;
	int cmd_fd;

	if (!peek(&context, object, sizeof(context)) ||
	    !peek(&cmd_fd, (const char *)context + offsetof(struct ibv_context, cmd_fd),
		  sizeof(cmd_fd)))
		return NULL;
	return cmd_fd == fd ? context : NULL;
}

void handles_free(struct handles *handles)
{
	free(handles->entry);
}
