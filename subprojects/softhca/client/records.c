/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Shares the pages of libmlx5's doorbell records with the daemon.
 *
 * libmlx5 takes these pages from the heap, whole, and keeps many records in each. The daemon would
 * read each record by a system call, several for a message. So the first object with a record in a
 * page moves the page into the arena, at its address, and the last one moves it out before libmlx5
 * frees it. A page with a record in use is never moved: a doorbell could be lost.
 */
#include "client.h"

#include <proto.h>

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <string.h>

/* A command that makes an object with a record. */
struct creation {
	uint32_t destroy;  /* the command that ends the object */
	uint64_t response; /* where the object's handle will be */
	uint64_t record;
};

#define EXTENDED(COMMAND) (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_##COMMAND)

/* Sets the command that ends the object. The size of the part that all drivers have, or 0. */
static size_t common_part(const struct ib_uverbs_cmd_hdr *hdr, uint32_t *destroy)
{
	switch (hdr->command) {
	case IB_USER_VERBS_CMD_CREATE_CQ:
		*destroy = IB_USER_VERBS_CMD_DESTROY_CQ;
		return sizeof(struct ib_uverbs_create_cq);
	case EXTENDED(CMD_CREATE_CQ):
		*destroy = IB_USER_VERBS_CMD_DESTROY_CQ;
		return hdr->in_words * sizeof(uint64_t);
	case IB_USER_VERBS_CMD_CREATE_QP:
		*destroy = IB_USER_VERBS_CMD_DESTROY_QP;
		return sizeof(struct ib_uverbs_create_qp);
	case EXTENDED(CMD_CREATE_QP):
		*destroy = IB_USER_VERBS_CMD_DESTROY_QP;
		return hdr->in_words * sizeof(uint64_t);
	case IB_USER_VERBS_CMD_CREATE_SRQ:
		*destroy = IB_USER_VERBS_CMD_DESTROY_SRQ;
		return sizeof(struct ib_uverbs_create_srq);
	case IB_USER_VERBS_CMD_CREATE_XSRQ:
		*destroy = IB_USER_VERBS_CMD_DESTROY_SRQ;
		return sizeof(struct ib_uverbs_create_xsrq);
	default:
		return 0;
	}
}

/* libmlx5's part of each of these begins with the addresses of the ring and of the record. */
static bool creates(const void *command, size_t length, struct creation *creation)
{
	const struct ib_uverbs_cmd_hdr *hdr = command;
	const struct ib_uverbs_ex_cmd_hdr *ex = (const void *)(hdr + 1);
	const bool extended = hdr->command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	size_t at = common_part(hdr, &creation->destroy);
	uint64_t addresses[2];

	if (!at)
		return false;
	at += sizeof(*hdr) + (extended ? sizeof(*ex) : 0);
	if (length < at + sizeof(addresses))
		return false;
	memcpy(addresses, (const char *)command + at, sizeof(addresses));
	creation->record = addresses[1];
	memcpy(&creation->response, extended ? (const void *)&ex->response : hdr + 1,
	       sizeof(creation->response));
	return creation->record && !(creation->record % sizeof(uint64_t));
}

static struct record *of_page(const struct records *records, uint64_t page)
{
	for (size_t i = 0; i < records->count; i++) {
		if (records->entry[i].page == page)
			return &records->entry[i];
	}
	return NULL;
}

static void drop(struct records *records, struct record *record)
{
	const struct record gone = *record;

	*record = records->entry[--records->count];
	if (gone.shared && !of_page(records, gone.page))
		arena_move_out(gone.page);
}

static void drop_named(struct records *records, uint32_t destroy, uint32_t handle)
{
	for (size_t i = 0; i < records->count; i++) {
		struct record *record = &records->entry[i];

		if (record->destroy != destroy || record->handle != handle)
			continue;
		drop(records, record);
		return;
	}
}

void records_before(struct records *records, const void *command, size_t length)
{
	struct creation creation;
	struct record *more, *neighbour, record = { 0 };

	if (!creates(command, length, &creation))
		return;
	more = realloc(records->entry, (records->count + 1) * sizeof(*more));
	if (!more)
		return;
	records->entry = more;
	record.page = creation.record / SOFTHCA_PAGE * SOFTHCA_PAGE;
	record.destroy = creation.destroy;
	neighbour = of_page(records, record.page);
	record.shared = neighbour ? neighbour->shared : arena_move_in(record.page);
	/* As libmlx5 just did. Another thread may have moved the page in or out meanwhile. */
	if (record.shared)
		memset((void *)(uintptr_t)creation.record, 0, sizeof(uint64_t));
	records->entry[records->count++] = record;
}

/* libibverbs takes an object of a device that has gone (EIO) for destroyed. */
void records_after(struct records *records, const void *command, size_t length, int err)
{
	const struct ib_uverbs_cmd_hdr *hdr = command;
	const struct ib_uverbs_destroy_qp *destroy = (const void *)(hdr + 1);
	struct record *last = records->count ? &records->entry[records->count - 1] : NULL;
	struct creation creation;

	if (last && creates(command, length, &creation)) {
		if (err || !peek(&last->handle, (const void *)(uintptr_t)creation.response,
				 sizeof(last->handle)))
			drop(records, last);
	} else if ((!err || err == -EIO) && length >= sizeof(*hdr) + sizeof(*destroy)) {
		drop_named(records, hdr->command, destroy->qp_handle);
	}
}

void records_free(struct records *records)
{
	while (records->count)
		drop(records, records->entry);
	free(records->entry);
	records->entry = NULL;
}
