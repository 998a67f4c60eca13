/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Shares the pages of libmlx5's doorbell records with the daemon.
 *
 * libmlx5 takes these pages from the heap, whole, and keeps many records in each. The daemon would
 * read each record by a system call, several for a message. So the first object with a record in a
 * page moves the page into the arena, at its address, and the last one moves it out before libmlx5
 * frees it. A page with a record in use is never moved: a doorbell could be lost.
 *
 * A program can have libmlx5 take a record from an allocator of its own (a parent domain, as of
 * pyverbs). The page around such a record is not libmlx5's and is never moved.
 */
#include "records.h"
#include "arena.h"
#include "handles.h"

#include <own/own.h>
#include <proto.h>

#include <errno.h>
#include <string.h>

#define RECORD sizeof(uint64_t) /* two words of 32 bits */

/* What libmlx5 has taken last from the heap, until an object is created; 0 = nothing. */
static __thread uint64_t taken __attribute__((tls_model("initial-exec")));

void records_taken(const void *memory)
{
	taken = (uintptr_t)memory;
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

int records_before(struct records *records, const uint64_t *command, size_t length)
{
	struct creation creation;
	struct record *neighbour, record = { 0 };
	void *table = records->entry;

	if (!handles_creation(command, length, &creation) || !creation.record ||
	    creation.record % RECORD)
		return 0;
	if (!room_for(&table, &records->room, (records->count + 1) * sizeof(record)))
		return -ENOMEM;
	records->entry = table;
	record.page = creation.record / SOFTHCA_PAGE * SOFTHCA_PAGE;
	record.destroy = creation.destroy;
	record.new = true;
	neighbour = of_page(records, record.page);
	record.shared = neighbour ? neighbour->shared
				  : record.page == taken && arena_move_in(record.page);
	taken = 0;
	/* libmlx5 has cleared the record, and another thread may have moved the page meanwhile. */
	if (record.shared)
		memset((void *)(uintptr_t)creation.record, 0, RECORD);
	records->entry[records->count++] = record;
	return 0;
}

static void created(struct records *records, const struct creation *creation, int err)
{
	struct record *record = &records->entry[records->count - 1];

	record->new = false;
	if (err || !peek(&record->handle, (const void *)(uintptr_t)creation->response,
			 sizeof(record->handle)))
		drop(records, record);
}

/* libibverbs takes an object of a device that has gone (EIO) for destroyed. */
void records_after(struct records *records, const uint64_t *command, size_t length, int err)
{
	struct creation creation;
	uint32_t number;

	if (records->count && records->entry[records->count - 1].new &&
	    handles_creation(command, length, &creation)) {
		created(records, &creation, err);
		return;
	}
	for (size_t i = 0; i < records->count && (!err || err == -EIO); i++) {
		struct record *record = &records->entry[i];

		if (handles_destruction(command, length, record->destroy, &number) &&
		    number == record->handle) {
			drop(records, record);
			return;
		}
	}
}

void records_free(struct records *records)
{
	while (records->count)
		drop(records, records->entry);
	room_free(records->entry, records->room);
}
