/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* When a completion queue that was armed raises an event. */
#ifndef SOFTHCA_CQ_ARM_H
#define SOFTHCA_CQ_ARM_H

#include <softhca/machine/hca.h>

void cq_arm_init(struct cq_arm *arm);

/* A completion that counts for ibv_req_notify_cq(cq, 1) was written at @index. */
void cq_arm_solicited(struct cq_arm *arm, uint32_t index);

/*
 * @request is what the CQ's doorbell record asks for, @producer the number of completions ever
 * written. True when an event is due; it is then taken as raised.
 */
bool cq_arm_fires(struct cq_arm *arm, struct arm_request request, uint32_t producer);

#endif
