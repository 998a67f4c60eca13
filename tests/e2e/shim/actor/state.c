/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor's devices, and memory that shows when a verb reads or writes beyond it. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "row.h"
#include "state.h"

#define CQ_ENTRIES 64
#define GUARD_BYTES 64
#define GUARD_FILL 0x5a

static struct {
	char *memory;
	size_t size;
	bool input;
	char saved[512];
} guards[4];
static unsigned guard_count;

void *guarded(size_t size, int fill)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *memory = pages + page - size;

	must(guard_count < sizeof(guards) / sizeof(guards[0]));
	must(size <= sizeof(guards[0].saved));
	must(pages != MAP_FAILED && !mprotect(pages + page, page, PROT_NONE));
	memset(memory - GUARD_BYTES, GUARD_FILL, GUARD_BYTES);
	memset(memory, fill, size);
	guards[guard_count].memory = memory;
	guards[guard_count].size = size;
	guards[guard_count++].input = false;
	return memory;
}

void *guarded_input(const void *from, size_t size)
{
	void *memory = guarded(size, 0);

	guards[guard_count - 1].input = true;
	return memcpy(memory, from, size);
}

void guards_save(void)
{
	for (unsigned i = 0; i < guard_count; i++)
		memcpy(guards[i].saved, guards[i].memory, guards[i].size);
}

/* Ends the guard. False if something was written before it, or to memory that must not change. */
static bool guard_intact(unsigned number, bool failed)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = guards[number].size;
	char *memory = guards[number].memory;
	bool intact = (!failed && !guards[number].input) ||
		      !memcmp(memory, guards[number].saved, size);

	for (int i = 1; i <= GUARD_BYTES; i++)
		intact = intact && memory[-i] == GUARD_FILL;
	munmap(memory + size - page, 2 * page);
	return intact;
}

struct result actor_perform(struct actor_state *state, const struct request *request)
{
	struct result result = { .intact = true };

	request->operation(state, request, &result);
	while (guard_count > 0)
		result.intact &= guard_intact(--guard_count, result.ret);
	return result;
}

struct actor_state *actor_state_new(void)
{
	struct actor_state *state = calloc(1, sizeof(*state));

	must(state);
	state->buffer = aligned_alloc(4096, MESSAGE_MAX * (RECV_SLOTS + 1));
	must(state->buffer);
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

static void open_place(struct opened *opened, int device)
{
	opened->context = open_by_number(device);
	if (!opened->context)
		return;
	opened->pd = ibv_alloc_pd(opened->context);
	opened->channel = ibv_create_comp_channel(opened->context);
	opened->qp_cq = ibv_create_cq(opened->context, CQ_ENTRIES, NULL, NULL, 0);
	opened->srq_cq = ibv_create_cq(opened->context, CQ_ENTRIES, NULL, opened->channel, 0);
	must(opened->pd);
	must(opened->channel);
	must(opened->qp_cq);
	must(opened->srq_cq);
}

/* Opens it if it is not open: OWN also again after close_device. */
struct opened *place_get(struct actor_state *state, enum place place)
{
	static struct opened nowhere;
	struct opened *opened = place == NOWHERE ? &nowhere : &state->places[place];

	if (place != NOWHERE && !opened->context)
		open_place(opened, place == OTHER_DEVICE ? !state->device : state->device);
	return opened;
}

OPERATION(open_device)
{
	struct ibv_port_attr *port = guarded(sizeof(*port), 0);
	struct opened *opened;

	state->device = request->device;
	opened = place_get(state, OWN);
	if (!opened->context) {
		result->ret = ENODEV;
		return;
	}
	state->ops = opened->context->ops;
	must(!ibv_query_port(opened->context, 1, port));
	result->number = port->lid;
	must(!ibv_query_gid(opened->context, 1, 0, &result->attr.ah_attr.grh.dgid));
	state->mr = ibv_reg_mr(opened->pd, state->buffer, MESSAGE_MAX * (RECV_SLOTS + 1),
			       IBV_ACCESS_LOCAL_WRITE);
	must(state->mr);
}

OPERATION(close_device)
{
	CALL_MINUS_ONE(ibv_close_device(state->places[OWN].context));
	state->places[OWN] = (struct opened){ 0 };
}

OPERATION(destroy_rest)
{
	struct opened *opened = &state->places[OWN];
	int err = ibv_dereg_mr(state->mr);

	err = err ? err : ibv_destroy_cq(opened->qp_cq);
	err = err ? err : ibv_destroy_cq(opened->srq_cq);
	err = err ? err : ibv_destroy_comp_channel(opened->channel);
	err = err ? err : ibv_dealloc_pd(opened->pd);
	result->ret = err ? err : ibv_close_device(opened->context);
}

OPERATION(exit)
{
	exit(0);
}

OPERATION(fork_child)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		exit(0);
	result->ret = waitpid(pid, &status, 0) == pid ? status : errno;
}
