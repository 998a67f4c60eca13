/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opens devices, and allocates memory that shows when a verb reads or writes beyond it. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "state.h"

#define CQ_ENTRIES 64
#define GUARD_BYTES 64
#define GUARD_FILL 0x5a

struct actor_state *actor_state_new(void)
{
	struct actor_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->buffer = aligned_alloc(4096, MESSAGE_MAX * (RECV_SLOTS + 1));
	if (!state->buffer) {
		free(state);
		return NULL;
	}
	return state;
}

static struct ibv_context *open_by_number(int number)
{
	struct ibv_context *context = NULL;
	struct ibv_device **list;
	int count = 0;

	list = ibv_get_device_list(&count);
	if (!list)
		return NULL;
	if (number < count)
		context = ibv_open_device(list[number]);
	ibv_free_device_list(list);
	return context;
}

static bool open_place(struct opened *opened, int device)
{
	opened->context = open_by_number(device);
	if (!opened->context)
		return false;
	opened->pd = ibv_alloc_pd(opened->context);
	opened->channel = ibv_create_comp_channel(opened->context);
	opened->qp_cq = ibv_create_cq(opened->context, CQ_ENTRIES, NULL, NULL, 0);
	opened->srq_cq = ibv_create_cq(opened->context, CQ_ENTRIES, NULL, opened->channel, 0);
	return opened->pd && opened->channel && opened->qp_cq && opened->srq_cq;
}

struct opened *place_get(struct actor_state *state, enum place place)
{
	struct opened *opened;

	if (place == NOWHERE)
		return NULL;
	opened = &state->places[place];
	if (opened->context)
		return opened;
	return open_place(opened, place == OTHER_DEVICE ? !state->device : state->device) ? opened
											  : NULL;
}

void *wild_pointer(void)
{
	static void *page;

	if (!page)
		page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page;
}

struct ibv_xrc_domain *dom_argument(const struct actor_state *state, int dom)
{
	if (dom == NIL)
		return NULL;
	return dom == WILD ? wild_pointer() : state->doms[dom];
}

void *guarded_new(size_t size, int fill)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *memory = pages + page - size;

	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
		abort();
	memset(memory - GUARD_BYTES, GUARD_FILL, GUARD_BYTES);
	memset(memory, fill, size);
	return memory;
}

bool guarded_free(void *memory, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *start = memory;
	bool whole = true;

	for (int i = 1; i <= GUARD_BYTES; i++)
		whole = whole && start[-i] == GUARD_FILL;
	munmap(start + size - page, 2 * page);
	return whole;
}
