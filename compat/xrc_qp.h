/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The QPs of ibv_create_qp with IBV_QPT_XRC.
 *
 * Programs that only send on such a QP (Open MPI, MVAPICH2, GASNet) get a one-way QP: the
 * provider's own XRC_SEND QP, so that inline ibv_post_send reaches the provider with nothing
 * between. Programs that connect such QPs to one another (qperf, MVAPICH 1.x) get a two-way QP,
 * which has an XRC_RECV QP behind that (pair.h).
 */
#ifndef COMPAT_XRC_QP_H
#define COMPAT_XRC_QP_H

#include <abi/legacy.h>

#include <stdbool.h>

struct xrc_qp;

/*
 * attr->qp_type is LEGACY_QPT_XRC. attr->cap gets what was allocated, receive capacities 0.
 * -EINVAL: pd, a CQ or the domain is missing or of another device, an SRQ is given (contract 5.3),
 * or max_inline_data >= 64 KiB. -ENOMEM: no memory, or (with a warning) no neighbouring numbers.
 */
int xrc_qp_create(struct ibv_pd *pd, struct legacy_qp_init_attr *attr, bool two_way,
		  struct ibv_qp **qp);

/* False: qp is not an XRC QP. True: it may be one. Takes no lock. */
static inline bool xrc_qp_is_possible(const struct ibv_qp *qp)
{
	return qp && qp->qp_type == IBV_QPT_XRC_SEND;
}

/* Returns the XRC QP of this object, or NULL. qp may be any pointer. Takes the lock. */
struct xrc_qp *xrc_qp_find(const struct ibv_qp *qp);

/* Returns the hidden half of a two-way QP, NULL for a one-way one. */
struct ibv_qp *xrc_qp_target(const struct xrc_qp *xrc_qp);

/* Modifies with the old masks. -EINVAL as half_mask(). */
int xrc_qp_modify(struct xrc_qp *xrc_qp, const struct legacy_qp_attr *attr, int mask);

/* Queries all that the kernel knows; init_attr as at create, type LEGACY_QPT_XRC. */
int xrc_qp_query(struct xrc_qp *xrc_qp, struct legacy_qp_attr *attr, int mask,
		 struct legacy_qp_init_attr *init_attr);

/*
 * Waits until each event of a half is acknowledged (contract 1.3), and destroys both halves. On
 * failure the QP stays, but a pair may have lost its target already. Then it only sends.
 */
int xrc_qp_destroy(struct xrc_qp *xrc_qp);

/*
 * Hands out an event of a pair's target as one of the visible QP. Returns the visible QP, NULL if
 * the pair is gone.
 */
struct ibv_qp *xrc_qp_target_event(const struct ibv_qp *tgt);

/*
 * An event leaves this QP in ERR, or a completion of it has an error other than flushed. If the QP
 * is a half of a pair, each modifies both halves to ERR.
 */
void xrc_qp_fatal_event(const struct ibv_qp *qp);
void xrc_qp_failed(const struct ibv_context *context, uint32_t qp_num);

/* The device is being closed. Lock held. */
void xrc_qp_forget_context(const struct ibv_context *context);

#endif
