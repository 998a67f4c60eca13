/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The pages of doorbell records, when there is no memory for the table of them. */

#include <harness/unit.h>

#include <own/own.h>
#include <rings/arena.h>
#include <rings/records.h>

#include <proto.h>

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>

static bool memory = true;
static int pages; /* that are in the arena */

bool room_for(void **table, size_t *room, size_t size)
{
	if (!memory)
		return false;
	*table = realloc(*table, size);
	*room = size;
	return *table != NULL;
}

void room_free(void *table, size_t room)
{
	(void)room;
	free(table);
}

bool arena_move_in(uint64_t page)
{
	(void)page;
	pages++;
	return true;
}

void arena_move_out(uint64_t page)
{
	(void)page;
	pages--;
}

static struct records records;
static uint64_t page[SOFTHCA_PAGE / sizeof(uint64_t)] __attribute__((aligned(SOFTHCA_PAGE)));

/* The addresses of ring and record come behind the kernel's structures. */
#define WORDS ((sizeof(struct ib_uverbs_cmd_hdr) + sizeof(struct ib_uverbs_create_cq)) / 8 + 2)

/* Creates a CQ whose number is 0 and whose record is this one of the page. 0 or -errno. */
static int create(unsigned int record, bool there_is_memory)
{
	static struct ib_uverbs_create_cq_resp response;
	uint64_t command[WORDS] = { 0 };
	struct ib_uverbs_cmd_hdr *header = (void *)command;
	struct ib_uverbs_create_cq *cq = (void *)(header + 1);
	int err;

	header->command = IB_USER_VERBS_CMD_CREATE_CQ;
	cq->response = (uintptr_t)&response;
	cq->driver_data[1] = (uintptr_t)&page[record];
	memory = there_is_memory;
	err = records_before(&records, command, sizeof(command));
	records_after(&records, command, sizeof(command), err);
	return err;
}

/* Without an entry for the second record the page would be moved when the first one goes. */
TEST(an_object_is_refused_without_memory_for_the_entry_of_its_record)
{
	records_taken(page);
	assert_int_equal(create(0, true), 0);
	assert_int_equal(pages, 1);
	assert_int_equal(create(1, false), -ENOMEM);
	assert_int_equal(create(1, true), 0);
	assert_int_equal(pages, 1);
	records_free(&records);
	assert_int_equal(pages, 0);
}

UNIT_MAIN(NULL, NULL)
