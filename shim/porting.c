/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: the functions of xrc_compat.h, for code that is being ported. */

#include <compat/domain.h>
#include <compat/rcv_qp.h>
#include <compat/srq.h>
#include <compat/xrc_qp.h>

#include "shim.h"

static void *found_or_einval(void *object)
{
	if (!object)
		errno = EINVAL;
	return object;
}

SHIM_EXPORT(xrc_compat_xrcd)
struct ibv_xrcd *shim_xrc_compat_xrcd(struct legacy_xrc_domain *ldom)
{
	return found_or_einval(domain_xrcd(ldom));
}

SHIM_EXPORT(xrc_compat_domain)
struct legacy_xrc_domain *shim_xrc_compat_domain(struct ibv_xrcd *xrcd)
{
	return found_or_einval(domain_of_xrcd(xrcd));
}

SHIM_EXPORT(xrc_compat_srq)
struct ibv_srq *shim_xrc_compat_srq(struct ibv_srq *legacy)
{
	return found_or_einval(srq_unwrap(legacy));
}

SHIM_EXPORT(xrc_compat_legacy_srq)
struct ibv_srq *shim_xrc_compat_legacy_srq(struct ibv_srq *srq)
{
	struct srq_image *image;

	state_lock();
	image = srq_image_of_real(srq);
	state_unlock();
	return found_or_einval(image);
}

SHIM_EXPORT(xrc_compat_rcv_qp)
struct ibv_qp *shim_xrc_compat_rcv_qp(struct legacy_xrc_domain *ldom, uint32_t qp_num)
{
	return found_or_einval(rcv_qp_handle(ldom, qp_num));
}

SHIM_EXPORT(xrc_compat_target_qp)
struct ibv_qp *shim_xrc_compat_target_qp(struct ibv_qp *legacy)
{
	struct xrc_qp *xrc_qp = xrc_qp_find(legacy);

	return found_or_einval(xrc_qp ? xrc_qp_target(xrc_qp) : NULL);
}
