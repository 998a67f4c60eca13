/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A registration, as the files rcv_qp*.c share it.
 */
#ifndef COMPAT_RCV_QP_INTERNAL_H
#define COMPAT_RCV_QP_INTERNAL_H

#include <modern/modern.h>

#include <compat/domain/domain.h>

enum rcv_qp_phase {
	RCV_QP_OPENING,		/* the kernel is being asked */
	RCV_QP_REGISTERED,
	RCV_QP_CLOSING,		/* unregistered; its last users are leaving */
};

struct rcv_qp {
	uint32_t qp_num;
	enum rcv_qp_phase phase;
	unsigned users;			/* verbs that use the handle right now */
	struct domain *domain;		/* through which it was registered: that one cannot be closed */
	bool created;			/* by this opened device */
	struct ibv_qp *qp;		/* the creator's, or an opened handle; NULL: still opening */
};

static inline const void *rcv_qp_key(uint32_t qp_num)
{
	return (const void *)(uintptr_t)qp_num;
}

/** rcv_qp_find_settled - the registration once no other thread is about to open or close it; NULL: none. Lock held. */
struct rcv_qp *rcv_qp_find_settled(struct core *core, uint32_t qp_num);

/** rcv_qp_open_handle - open one. -EINVAL: no such receive QP in this domain. -EOPNOTSUPP, with a warning: not on this kernel. */
int rcv_qp_open_handle(struct domain *domain, uint32_t qp_num, enum modern_tgt_use use, struct ibv_qp **qp);

#endif
