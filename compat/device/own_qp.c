/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Remembers the QPs of this process: a device may become one with hidden targets only after it has some. */

#include <stdlib.h>

#include <compat/base/handle.h>
#include <compat/core/ops.h>
#include <compat/core/state.h>
#include <compat/rcv_qp/rcv_qp.h>

#include "own_qp.h"

/* Not the QP itself, for one may have ended without our having been asked. */
struct own_qp {
	const struct ibv_context *context;
	uint32_t qp_num;
	struct ops_ending ending;
};

static struct handle_map own_qps;	/* by the QP */

void own_qp_created(const struct ibv_qp *qp)
{
	struct own_qp *own = malloc(sizeof(*own));

	/* Without memory receive completions of the QP may come to carry its neighbour's number; the QP is fine. */
	if (!own)
		return;
	*own = (struct own_qp){ .context = qp->context, .qp_num = qp->qp_num };
	state_lock();
	free(handle_find(&own_qps, qp));
	if (handle_add(&own_qps, qp, own))
		free(own);
	ops_note_own(qp->context, qp->qp_num, true);
	state_unlock();
}

/* Out of the map at once: as soon as the QP is gone its memory may be another one's. */
struct own_qp *own_qp_ending(const struct ibv_qp *qp)
{
	struct own_qp *own;

	state_lock();
	own = handle_find(&own_qps, qp);
	if (own) {
		handle_remove(&own_qps, qp, own);
		own->ending = (struct ops_ending){ .context = own->context, .qp_num = own->qp_num };
		ops_begin_end(&own->ending);
	}
	state_unlock();
	return own;
}

void own_qp_ended(struct own_qp *own, const struct ibv_qp *qp)
{
	if (qp)
		own_qp_created(qp);
	if (!own)
		return;
	state_lock();
	ops_end(&own->ending);
	state_unlock();
	free(own);
}

static void note(void *object, void *arg)
{
	const struct own_qp *own = object;

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
	return ((const struct own_qp *)object)->context == context;
}

void own_qp_forget_context(const struct ibv_context *context)
{
	handle_drop(&own_qps, of_context, context, free);
}
