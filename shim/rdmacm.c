/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Exported: rdma_create_qp of librdmacm, by which Portals4 created its XRC QPs.
 *
 * librdmacm creates its QPs by ibv_create_qp, which is the shim's. But it passes a copy of the
 * attributes in today's length, without the domain.
 */
#include <base/log.h>
#include <modern/rdmacm.h>
#include <two_way/program.h>

#include "shim.h"

/*
 * The attributes that the program has passed to rdma_create_qp, during that call. They stay if a
 * signal handler jumps out of the call, which may leave locks of librdmacm and the provider taken.
 * The thread's next ibv_create_qp of an XRC QP then reads them (xrc-compat(7), LIMITS).
 *
 * The variable is initial-exec, because __tls_get_addr would make the library need the loader by
 * name (elf/loader.c).
 */
static __thread const struct legacy_qp_init_attr *program_attr
	__attribute__((tls_model("initial-exec")));

const struct legacy_qp_init_attr *shim_rdmacm_attr(void)
{
	return program_attr;
}

/*
 * The librdmacm that was patched for Portals4 created a receive QP for these attributes, and kept
 * its number in a member that today's rdma_cm_id does not have. A send QP in its place would
 * connect, but nothing would arrive.
 */
static bool means_receive_qp(const struct legacy_qp_init_attr *attr)
{
	static bool warned;

	if (attr->cap.max_send_wr || program_is_two_way())
		return false;
	log_once(warned,
		 "rdma_create_qp makes no receive QP (max_send_wr 0): call ibv_create_xrc_rcv_qp, "
		 "and give its number to rdma_accept in conn_param.qp_num");
	return true;
}

/*
 * Legacy: type 5 is an XRC QP, with the patched librdmacm in attr's domain.
 * Modern: librdmacm's, which calls the shim's ibv_create_qp. Without a receive CQ the send CQ is
 * used for both.
 * Difference: max_send_wr 0 is EINVAL. rdma_create_ep keeps attributes for later connections
 * without the domain: type 5 is EINVAL there.
 */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct legacy_qp_init_attr *lattr = (struct legacy_qp_init_attr *)attr;
	rdmacm_create_qp_fn real = NULL;
	bool by_librdmacm = false, is_xrc;
	struct entry entry;
	int err = shim_enter(&entry, VERB_rdma_create_qp, NULL);

	if (!err)
		real = modern_rdmacm_create_qp(__builtin_return_address(0), &by_librdmacm);
	if (!real)
		return shim_leave(&entry, -ENOSYS);
	/* In a call by librdmacm itself, attr is a copy that ends before the domain. */
	is_xrc = attr && lattr->qp_type == LEGACY_QPT_XRC && !by_librdmacm;
	if (is_xrc && means_receive_qp(lattr))
		return shim_leave(&entry, -EINVAL);
	shim_pass(&entry);
	program_attr = is_xrc ? lattr : NULL;
	err = real(id, pd, attr);
	program_attr = NULL;
	return err;
}
SHIM_EXPORT(rdma_create_qp);
