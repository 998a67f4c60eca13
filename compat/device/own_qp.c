/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Remembers the QPs of this process: a device may become one with hidden targets only after it has some. */

#include <stdlib.h>

#include <compat/base/handle.h>
#include <compat/core/ops.h>
#include <compat/core/state.h>
#include <compat/rcv_qp/rcv_qp.h>

#include "own_qp.h"

/* By the QP, which itself is not looked at: one may have ended without our having been asked. */
static struct handle_map own_qps;

void own_qp_created(const struct ibv_qp *qp)
{
	struct ops_own *own = malloc(sizeof(*own));

	/* Without memory receive completions of the QP may come to carry its neighbour's number; the QP is fine. */
	if (!own)
		return;
	*own = (struct ops_own){ .context = qp->context, .qp_num = qp->qp_num };
	state_lock();
	free(handle_find(&own_qps, qp));
	if (handle_add(&own_qps, qp, own))
		free(own);
	ops_note_own(qp->context, qp->qp_num, true);
	state_unlock();
}

/* Out of the map at once: as soon as the QP is gone its memory may be another one's. */
struct ops_own *own_qp_ending(const struct ibv_qp *qp)
{
	struct ops_own *own;

	state_lock();
	own = handle_find(&own_qps, qp);
	if (own) {
		handle_remove(&own_qps, qp, own);
		ops_begin_end(own);
	}
	state_unlock();
	return own;
}

void own_qp_ended(struct ops_own *own, const struct ibv_qp *qp)
{
	if (qp)
		own_qp_created(qp);
	if (!own)
		return;
	state_lock();
	ops_end(own);
	state_unlock();
	free(own);
}

static void note(void *object, void *arg)
{
	const struct ops_own *own = object;

	if (own->context == arg)
		ops_note_own(own->context, own->qp_num, true);
}

int own_qp_track(struct ibv_context *context)
{
	int err;

	state_lock();
	err = ops_track_own(context);
	if (!err) {
		handle_each(&own_qps, note, context);
		rcv_qp_note_own(context);
	}
	state_unlock();
	return err;
}

static bool of_context(const void *object, const void *context)
{
	return ((const struct ops_own *)object)->context == context;
}

void own_qp_forget_context(const struct ibv_context *context)
{
	handle_drop(&own_qps, of_context, context, free);
}
