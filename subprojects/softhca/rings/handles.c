/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The objects of a context by their handles, and the commands that create and destroy them. */
#include "handles.h"

#include <own/own.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#define EXTENDED(COMMAND) (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_##COMMAND)

/* The size of the fields that all drivers share. Extended commands tell it; 0 here. */
static const struct kind {
	uint32_t create, destroy;
	size_t size;
} kinds[] = {
	{ IB_USER_VERBS_CMD_CREATE_CQ, IB_USER_VERBS_CMD_DESTROY_CQ,
	  sizeof(struct ib_uverbs_create_cq) },
	{ IB_USER_VERBS_CMD_CREATE_QP, IB_USER_VERBS_CMD_DESTROY_QP,
	  sizeof(struct ib_uverbs_create_qp) },
	{ IB_USER_VERBS_CMD_CREATE_SRQ, IB_USER_VERBS_CMD_DESTROY_SRQ,
	  sizeof(struct ib_uverbs_create_srq) },
	{ IB_USER_VERBS_CMD_CREATE_XSRQ, IB_USER_VERBS_CMD_DESTROY_SRQ,
	  sizeof(struct ib_uverbs_create_xsrq) },
	{ EXTENDED(CMD_CREATE_CQ), IB_USER_VERBS_CMD_DESTROY_CQ, 0 },
	{ EXTENDED(CMD_CREATE_QP), IB_USER_VERBS_CMD_DESTROY_QP, 0 },
};

static const struct kind *created_by(uint32_t command)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].create == command)
			return &kinds[i];
	}
	return NULL;
}

/*
 * All of these begin with a header of one word, the address of the response, in extended commands
 * another word, and the address of the program's structure. The driver's part begins with the
 * addresses of the ring and of the record.
 */
bool handles_creation(const uint64_t *command, size_t length, struct creation *creation)
{
	const struct ib_uverbs_cmd_hdr *hdr = (const void *)command;
	const struct kind *kind = created_by(hdr->command);
	size_t object, part;

	if (!kind)
		return false;
	object = kind->size ? 2 : 3;
	part = kind->size ? 1 + kind->size / sizeof(*command) : object + hdr->in_words;
	if (length < part * sizeof(*command) || part <= object)
		return false;
	creation->destroy = kind->destroy;
	creation->response = command[1];
	creation->object = command[object];
	creation->record = length < (part + 2) * sizeof(*command) ? 0 : command[part + 1];
	return true;
}

bool handles_destruction(const uint64_t *command, size_t length, uint32_t destroy, uint32_t *number)
{
	const struct ib_uverbs_cmd_hdr *hdr = (const void *)command;
	const struct ib_uverbs_destroy_qp *in = (const void *)(hdr + 1);

	/* The requests for QPs, CQs and SRQs have one layout. */
	if (hdr->command != destroy || length < sizeof(*hdr) + sizeof(*in))
		return false;
	*number = in->qp_handle;
	return true;
}

static void add(struct handles *handles, const struct creation *creation)
{
	struct handle handle = { .object = (void *)(uintptr_t)creation->object,
				 .maker = gettid() };
	void *table = handles->entry;

	if (!peek(&handle.number, (const void *)(uintptr_t)creation->response,
		  sizeof(handle.number)))
		return;
	if (!room_for(&table, &handles->room, (handles->count + 1) * sizeof(handle)))
		return;
	handles->entry = table;
	handles->entry[handles->count++] = handle;
}

static void drop(struct handles *handles, uint32_t number)
{
	for (size_t i = 0; i < handles->count; i++) {
		if (handles->entry[i].number != number)
			continue;
		handles->entry[i] = handles->entry[--handles->count];
		return;
	}
}

void handles_note(struct handles *handles, uint32_t destroy, const uint64_t *command, size_t length)
{
	struct creation creation;
	uint32_t number;

	if (handles_creation(command, length, &creation) && creation.destroy == destroy)
		add(handles, &creation);
	else if (handles_destruction(command, length, destroy, &number))
		drop(handles, number);
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
	room_free(handles->entry, handles->room);
}
