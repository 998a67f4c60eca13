/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor compares the ops table of its context with what it was before. */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

void do_remember_ops(struct actor_state *state, const struct request *request,
		     struct result *result)
{
	(void)request;
	state->ops = state->places[OWN].context->ops;
	result->err = ERRNO_MARK;
}

static const struct {
	const char *name;
	size_t offset;
} old_slots[] = {
	{ "post_send", offsetof(struct ibv_context_ops, post_send) },
	{ "post_recv", offsetof(struct ibv_context_ops, post_recv) },
	{ "poll_cq", offsetof(struct ibv_context_ops, poll_cq) },
	{ "req_notify_cq", offsetof(struct ibv_context_ops, req_notify_cq) },
	{ "post_srq_recv", offsetof(struct ibv_context_ops, post_srq_recv) },
};

/* The file name of the library that the function is in. */
static const char *home_of(void *function)
{
	const char *slash;
	Dl_info info;

	if (!dladdr(function, &info) || !info.dli_fname)
		return "?";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/*
 * "post_send=libmlx4-rdmav34.so" and so on for the slots above; then "hooked" if post_srq_recv has
 * changed, "changed@OFFSET" for others.
 */
void do_compare_ops(struct actor_state *state, const struct request *request, struct result *result)
{
	struct opened *opened = place_get(state, request->where);
	const char *now = (const char *)&opened->context->ops, *before = (const char *)&state->ops;
	size_t used = 0, hooked = offsetof(struct ibv_context_ops, post_srq_recv);
	void *function;

	for (unsigned i = 0; i < sizeof(old_slots) / sizeof(old_slots[0]); i++) {
		memcpy(&function, now + old_slots[i].offset, sizeof(function));
		used += (size_t)snprintf(result->text + used, sizeof(result->text) - used, "%s=%s ",
					 old_slots[i].name, home_of(function));
	}
	for (size_t at = 0; at < sizeof(state->ops); at += sizeof(void *))
		if (memcmp(now + at, before + at, sizeof(void *)))
			snprintf(result->text + strlen(result->text),
				 sizeof(result->text) - strlen(result->text),
				 at == hooked ? "hooked " : "changed@%zu ", at);
	result->err = ERRNO_MARK;
}
