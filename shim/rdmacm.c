/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Exported: the functions of librdmacm that may be handed an old XRC QP or an SRQ image.
 *
 * librdmacm makes its QPs by ibv_create_qp, which is the shim's; but it hands over a copy of the attributes in today's
 * length, without the domain. Where ibv_create_qp does not take all attributes, it calls the provider instead.
 */

#include <compat/log.h>
#include <compat/srq.h>
#include <compat/program.h>
#include <modern/rdmacm.h>

#include "shim.h"

/* Initial-exec, because __tls_get_addr would make the library need the loader by name (elf/early.c). */
static __thread const struct legacy_qp_init_attr *original __attribute__((tls_model("initial-exec")));

const struct legacy_qp_init_attr *shim_rdmacm_attr(void)
{
	return original;
}

/*
 * The librdmacm that was patched for Portals4 made a receive QP for these attributes, and kept its number in a member that
 * today's rdma_cm_id does not have. A send QP in its place would connect, but nothing would arrive.
 */
static bool means_receive_qp(const struct legacy_qp_init_attr *attr)
{
	static bool warned;

	if (attr->cap.max_send_wr || program_is_two_way(false))
		return false;
	log_once(warned, "rdma_create_qp makes no receive QP (max_send_wr 0): call ibv_create_xrc_rcv_qp, and give its "
		 "number to rdma_accept in conn_param.qp_num");
	return true;
}

static int create_xrc(rdmacm_create_qp_fn real, struct rdma_cm_id *id, struct ibv_pd *pd,
		      struct legacy_qp_init_attr *attr)
{
	int ret;

	original = attr;
	ret = real(id, pd, (struct ibv_qp_init_attr *)attr);
	original = NULL;
	return ret;
}

/*
 * Legacy: type 5 is an XRC QP, in attr's domain if the patched librdmacm was there.
 * Modern: the same, the QP made as ibv_create_qp makes it; without a receive CQ the send CQ is that too.
 * Difference: max_send_wr 0 is EINVAL. rdma_create_ep keeps attributes for later connections without the domain:
 * type 5 is EINVAL there.
 */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct legacy_qp_init_attr *lattr = (struct legacy_qp_init_attr *)attr;
	rdmacm_create_qp_fn real = NULL;
	struct entry entry;
	int err = shim_enter(&entry, VERB_rdma_create_qp, NULL);
	bool ours = attr && lattr->qp_type == LEGACY_QPT_XRC && !modern_is_rdmacm(__builtin_return_address(0));

	if (!err)
		real = modern_rdmacm_create_qp();
	if (!real)
		return shim_leave(&entry, -ENOSYS);
	if (ours && means_receive_qp(lattr))
		return shim_leave(&entry, -EINVAL);
	shim_pass(&entry);
	return ours ? create_xrc(real, id, pd, lattr) : real(id, pd, attr);
}
SHIM_EXPORT(rdma_create_qp);

/* Legacy: there was none. Modern: the same; an image is unwrapped. */
int rdma_create_qp_ex(struct rdma_cm_id *id, void *attr)
{
	struct ibv_srq **srq = attr ? modern_rdmacm_srq(attr) : NULL, *of_program;
	rdmacm_create_qp_ex_fn real = NULL;
	struct entry entry;
	int ret;

	if (!shim_enter(&entry, VERB_rdma_create_qp_ex, NULL))
		real = modern_rdmacm_create_qp_ex();
	if (!real)
		return shim_leave(&entry, -ENOSYS);
	shim_pass(&entry);
	if (!srq || !image_of(*srq))
		return real(id, attr);
	of_program = *srq;
	*srq = srq_unwrap(of_program);
	ret = real(id, attr);
	*srq = of_program;
	return ret;
}
SHIM_EXPORT(rdma_create_qp_ex);
