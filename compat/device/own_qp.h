/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The QPs of this process that a program knows by their own numbers: ordinary ones, initiators, receive QPs.
 *
 * In a two-way program every other receive completion is of a hidden target, be it this process's or another one's that
 * delivers to an SRQ of ours (MVAPICH 1.x). This is how they are told apart: not all numbers have a tag, and where they have,
 * receive QPs have it, too.
 */
#ifndef COMPAT_OWN_QP_H
#define COMPAT_OWN_QP_H

#include <infiniband/verbs.h>

struct ops_own;

/** own_qp_created - call after a QP was made. */
void own_qp_created(const struct ibv_qp *qp);

/** own_qp_ending, own_qp_ended - call before a QP is destroyed, and with the result afterwards; qp is NULL, or still there. */
struct ops_own *own_qp_ending(const struct ibv_qp *qp);
void own_qp_ended(struct ops_own *own, const struct ibv_qp *qp);

/** own_qp_track - poll_cq of this device is about to ask ops_is_own(). 0 or -ENOMEM. */
int own_qp_track(struct ibv_context *context);

/** own_qp_forget_context - the device is being closed. Lock held. */
void own_qp_forget_context(const struct ibv_context *context);

#endif
