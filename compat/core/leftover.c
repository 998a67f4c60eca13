/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Remembers what could not be destroyed. */

#include <modern/modern.h>

#include <compat/base/handle.h>

#include "leftover.h"
#include "state.h"

static struct handle_map leftovers;	/* by the QP */

static int destroy(struct ibv_qp *qp)
{
	int err = modern_destroy_qp(qp);

	if (!err)
		return 0;
	state_lock();
	/* Without memory the domain stays busy until its device is closed. */
	handle_add(&leftovers, qp, qp);
	state_unlock();
	return err;
}

void leftover_destroy_qp(struct ibv_qp *qp)
{
	destroy(qp);
}

static bool of_context(const void *object, const void *context)
{
	return ((const struct ibv_qp *)object)->context == context;
}

static struct ibv_qp *take(const struct ibv_context *context)
{
	struct ibv_qp *qp;

	state_lock();
	qp = handle_take_if(&leftovers, of_context, context);
	state_unlock();
	return qp;
}

void leftover_retry(const struct ibv_context *context)
{
	struct ibv_qp *qp;

	while ((qp = take(context)) && !destroy(qp))
		;
}

void leftover_forget_context(const struct ibv_context *context)
{
	handle_drop(&leftovers, of_context, context, NULL);
}
