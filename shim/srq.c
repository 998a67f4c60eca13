/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: ibv_create_xrc_srq, and the SRQ verbs that may be handed an image. */
#include <compat/ops.h>
#include <compat/srq.h>
#include <modern/modern.h>
#include <modern/table.h>

#include "shim.h"

/*
 * In a two-way program a QP of another process may deliver to this SRQ before this process has a
 * pair itself.
 */
static int hook_device(struct ibv_context *context)
{
	int err = ops_hook_post_srq_recv(context, shim_post_srq_recv);

	if (!err && program_is_two_way())
		err = shim_hook_poll_cq(context);
	return err;
}

/*
 * Legacy: an SRQ with its number readable in the struct; attr's max_wr and max_sge are updated,
 * srq_limit is ignored.
 * Modern: ibv_create_srq_ex(IBV_SRQT_XRC), ibv_get_srq_num; the caller gets an image of the SRQ.
 * Difference: NULL arguments are EINVAL; the old library crashed. errno is always set.
 */
struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd, struct legacy_xrc_domain *ldom,
				   struct ibv_cq *cq, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *lsrq = NULL;
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_create_xrc_srq, ARGUMENTS(pd, ldom, cq, attr));

	if (!err)
		err = pd ? hook_device(pd->context) : -EINVAL;
	if (!err)
		err = srq_create(pd, ldom, cq, attr, &lsrq);
	return shim_leave_made(&entry, err, lsrq);
}
SHIM_EXPORT(ibv_create_xrc_srq);

static NOT_ORDINARY int modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct srq_image *image = srq_image_of(srq);
	struct entry entry;

	if (!image)
		return shim_is_ready() ? modern_table.modify_srq(srq, attr, mask)
				       : shim_refuse(VERB_ibv_modify_srq);
	shim_enter(&entry, VERB_ibv_modify_srq, ARGUMENTS(srq, attr, mask));
	return shim_leave(&entry, modern_modify_srq(image->srq, attr, mask));
}

/*
 * Legacy: today's verb.
 * Modern: ibv_modify_srq of the SRQ behind an image.
 * Difference: none known.
 */
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	return program_is_ordinary() ? modern_table.modify_srq(srq, attr, mask)
				     : modify_srq(srq, attr, mask);
}
SHIM_EXPORT(ibv_modify_srq);

static NOT_ORDINARY int query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct srq_image *image = srq_image_of(srq);
	struct entry entry;

	if (!image)
		return shim_is_ready() ? modern_table.query_srq(srq, attr)
				       : shim_refuse(VERB_ibv_query_srq);
	shim_enter(&entry, VERB_ibv_query_srq, ARGUMENTS(srq, attr));
	return shim_leave(&entry, srq_query(image, attr));
}

/*
 * Legacy: today's verb.
 * Modern: ibv_query_srq of the SRQ behind an image, with the max_wr and max_sge of
 * ibv_create_xrc_srq.
 * Difference: none known.
 */
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	return program_is_ordinary() ? modern_table.query_srq(srq, attr) : query_srq(srq, attr);
}
SHIM_EXPORT(ibv_query_srq);

static NOT_ORDINARY int destroy_srq(struct ibv_srq *srq)
{
	struct srq_image *image = srq_image_of(srq);
	struct entry entry;

	if (!image)
		return shim_is_ready() ? modern_table.destroy_srq(srq)
				       : shim_refuse(VERB_ibv_destroy_srq);
	shim_enter(&entry, VERB_ibv_destroy_srq, ARGUMENTS(srq));
	return shim_leave(&entry, srq_destroy(image));
}

/*
 * Legacy: today's verb.
 * Modern: ibv_destroy_srq of the SRQ behind an image. The image is freed with it.
 * Difference: a cancelled thread waits for the acknowledgements first. Completions stay on mlx5.
 */
int ibv_destroy_srq(struct ibv_srq *srq)
{
	return program_is_ordinary() ? modern_table.destroy_srq(srq) : destroy_srq(srq);
}
SHIM_EXPORT(ibv_destroy_srq);
