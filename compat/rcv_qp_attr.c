/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Modify and query of a receive QP. */

#include <errno.h>

#include <modern/modern.h>

#include "owner/owner.h"

#include "attr.h"
#include "log.h"
#include "mask.h"
#include "rcv_qp.h"
#include "rcv_qp_attr.h"
#include "rcv_qp_request.h"

_Static_assert(sizeof(struct rcv_qp_request) <= OWNER_MESSAGE_MAX, "fits a question");

/* A stopped owner must not hold the others up for ever. */
#define ANSWER_TIMEOUT_MS 2000

static int query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_init_attr init_attr = { 0 };

	*attr = (struct ibv_qp_attr){ 0 };
	return modern_query_qp(qp, attr, mask, &init_attr);
}

static int modify_handle(struct ibv_qp *qp, const struct legacy_qp_attr *lattr, int mask)
{
	struct ibv_qp_attr attr = attr_from_legacy(lattr), now;
	int modern_mask;
	int err = query(qp, &now, IBV_QP_STATE | IBV_QP_PORT);

	if (!err)
		err = mask_translate(MASK_TARGET, now.qp_state, &attr, mask, &modern_mask);
	if (err)
		return err;
	attr_fill_ports(&attr, mask, now.port_num);
	return modern_modify_qp(qp, &attr, modern_mask);
}

static int query_handle(struct ibv_qp *qp, struct legacy_qp_attr *lattr, int mask)
{
	struct ibv_qp_attr attr;
	int err = query(qp, &attr, mask);

	if (!err)
		attr_to_legacy(&attr, lattr);
	return err;
}

/* "Never a lie": a QP that went with its owner is one that is not there; a silent owner is an error of its own. */
static int asked_in_vain(const struct core *core, uint32_t qp_num, int err)
{
	static bool warned;

	if (err != -EOWNERDEAD && err != -ETIMEDOUT)
		return err;
	log_once(warned, "%s: the process that made receive QP 0x%x %s; this device cannot share QPs between processes",
		 core->context->device->name, qp_num,
		 err == -ETIMEDOUT ? "does not answer (is it stopped?)" : "has ended");
	return err == -EOWNERDEAD ? -EINVAL : err;
}

static int ask(struct core *core, uint32_t qp_num, enum rcv_qp_verb verb, struct legacy_qp_attr *lattr, int mask)
{
	struct rcv_qp_request request = { .verb = verb, .mask = mask, .attr = *lattr };
	struct legacy_qp_attr answer;
	size_t length = sizeof(answer);
	int err = roster_open(core);

	if (!err)
		err = owner_ask(core->roster.member, qp_num, &request, sizeof(request), &answer, &length,
				ANSWER_TIMEOUT_MS);
	if (err)
		return asked_in_vain(core, qp_num, err);
	if (verb == RCV_QP_QUERY && length != sizeof(answer))
		return -EINVAL;
	if (verb == RCV_QP_QUERY)
		*lattr = answer;
	return 0;
}

int rcv_qp_answer(void *core, uint32_t qp_num, const void *message, size_t length, void *answer, size_t *answer_len)
{
	struct rcv_qp_use use;
	struct rcv_qp_request request;
	int err;

	if (length != sizeof(request))
		return -EINVAL;
	memcpy(&request, message, sizeof(request));
	err = rcv_qp_begin_owned(core, qp_num, &use);
	if (err)
		return err;
	*answer_len = 0;
	if (request.verb == RCV_QP_MODIFY) {
		err = modify_handle(use.qp, &request.attr, request.mask);
	} else {
		err = query_handle(use.qp, &request.attr, request.mask);
		memcpy(answer, &request.attr, sizeof(request.attr));
		*answer_len = sizeof(request.attr);
	}
	rcv_qp_end(&use);
	return err;
}

int rcv_qp_modify(struct legacy_xrc_domain *ldom, uint32_t qp_num, const struct legacy_qp_attr *lattr, int mask)
{
	struct legacy_qp_attr attr = *lattr;
	struct rcv_qp_use use;
	int err = rcv_qp_begin(ldom, qp_num, &use);

	if (err)
		return err;
	err = use.qp ? modify_handle(use.qp, lattr, mask) : ask(use.core, qp_num, RCV_QP_MODIFY, &attr, mask);
	rcv_qp_end(&use);
	return err;
}

/* What the old libmlx4 wrote over the kernel's answer (contract 5.5). */
static void override_query(struct legacy_xrc_domain *ldom, struct legacy_qp_attr *attr,
			   struct legacy_qp_init_attr *init_attr)
{
	*init_attr = (struct legacy_qp_init_attr){
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = LEGACY_QPT_XRC,
		.xrc_domain = ldom,
	};
	attr->cap = init_attr->cap;
}

int rcv_qp_query(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct legacy_qp_attr *lattr, int mask,
		 struct legacy_qp_init_attr *linit_attr)
{
	struct legacy_qp_attr attr = { 0 };
	struct rcv_qp_use use;
	int err = rcv_qp_begin(ldom, qp_num, &use);

	if (err)
		return err;
	err = use.qp ? query_handle(use.qp, &attr, mask) : ask(use.core, qp_num, RCV_QP_QUERY, &attr, mask);
	rcv_qp_end(&use);
	if (err)
		return err;
	override_query(ldom, &attr, linit_attr);
	*lattr = attr;
	return 0;
}
