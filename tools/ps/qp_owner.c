/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Asks the owners of receive QPs through the registration table. */
#include "qp_owner.h"

#include <compat/owner/owner.h>
#include <compat/rcv_qp/rcv_qp_request.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* An owner that is stopped is asked once. */
#define ANSWER_MILLISECONDS 500

static int ask(struct regtab_member *member, uint32_t qp_num, int *state)
{
	const struct rcv_qp_request request = { .verb = RCV_QP_QUERY, .mask = IBV_QP_STATE };
	struct legacy_qp_attr answer;
	size_t length = sizeof(answer);
	int error = owner_ask(member, qp_num, &request, sizeof(request), &answer, &length, ANSWER_MILLISECONDS);

	if (!error && length != sizeof(answer))
		error = -EPROTO;
	if (!error)
		*state = (int)answer.qp_state;
	return error;
}

static void ask_all(struct regtab_member *member, const struct regtab_view *view,
		    bool (*give)(void *context, unsigned int qp, int state), void *context)
{
	for (unsigned int i = 0; i < view->qp_count; i++) {
		int error, state;

		if (view->qps[i].state != REGTAB_QP_OWNER)
			continue;
		error = ask(member, view->qps[i].qp_num, &state);
		if (error == -ETIMEDOUT || (!error && !give(context, i, state)))
			return;
	}
}

static bool has_any(const struct regtab_view *view)
{
	for (unsigned int i = 0; i < view->qp_count; i++) {
		if (view->qps[i].state == REGTAB_QP_OWNER)
			return true;
	}
	return false;
}

void qp_owner_states(const struct regtab_view *view, bool (*give)(void *context, unsigned int qp, int state), void *context)
{
	struct regtab_member *member;
	char directory[PATH_MAX];
	struct regtab *table;

	if (!has_any(view))
		return;
	snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(view->path, '/') - view->path), view->path);
	if (regtab_open(&view->key, directory, &table, NULL))
		return;
	if (!regtab_join(table, "xrc-compat ps", &member)) {
		ask_all(member, view, give, context);
		regtab_leave(member);
	}
	regtab_close(table);
}
