/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: the functions of xrc_compat.h, which documents them, for code that is being ported. */
#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <compat/srq.h>
#include <compat/xrc_qp.h>

#include "shim.h"

/* -EINVAL if nothing was found, as xrc_compat.h says. */
static void *leave_found(const struct entry *entry, int err, void *found)
{
	return shim_leave_made(entry, err || found ? err : -EINVAL, found);
}

struct ibv_xrcd *xrc_compat_xrcd(struct legacy_xrc_domain *ldom)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_xrc_compat_xrcd, NULL);

	return leave_found(&entry, err, err ? NULL : domain_xrcd(ldom));
}
SHIM_EXPORT(xrc_compat_xrcd);

struct legacy_xrc_domain *xrc_compat_domain(struct ibv_xrcd *xrcd)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_xrc_compat_domain, NULL);

	return leave_found(&entry, err, err ? NULL : domain_of_xrcd(xrcd));
}
SHIM_EXPORT(xrc_compat_domain);

struct ibv_srq *xrc_compat_srq(struct ibv_srq *legacy)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_xrc_compat_srq, NULL);

	return leave_found(&entry, err, err ? NULL : srq_unwrap(legacy));
}
SHIM_EXPORT(xrc_compat_srq);

struct ibv_srq *xrc_compat_legacy_srq(struct ibv_srq *srq)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_xrc_compat_legacy_srq, NULL);

	return leave_found(&entry, err, err ? NULL : srq_image_of_real(srq));
}
SHIM_EXPORT(xrc_compat_legacy_srq);

struct ibv_qp *xrc_compat_rcv_qp(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_xrc_compat_rcv_qp, NULL);

	return leave_found(&entry, err, err ? NULL : rcv_qp_handle(ldom, qp_num));
}
SHIM_EXPORT(xrc_compat_rcv_qp);

struct ibv_qp *xrc_compat_target_qp(struct ibv_qp *legacy)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_xrc_compat_target_qp, NULL);
	struct xrc_qp *xrc_qp = err ? NULL : xrc_qp_find(legacy);

	return leave_found(&entry, err, xrc_qp ? xrc_qp_target(xrc_qp) : NULL);
}
SHIM_EXPORT(xrc_compat_target_qp);
