/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Exported in node IBVERBS_1.0: today's verbs that the library exports in IBVERBS_1.1. Each call is
 * passed on to libibverbs.
 *
 * In IBVERBS_1.1 they are default versions, for the dlsym(RTLD_NEXT) of a verbs profiler in front
 * of this library. The profiler names no version, and dlsym() then skips versions that are not the
 * default.
 *
 * A reference without a version binds to a library's first node, for example in a plugin that was
 * not linked with libibverbs. If that node were IBVERBS_1.1 here, such a plugin would call our
 * ibv_create_qp with a PD of libibverbs' IBVERBS_1.0.
 */
#include <modern/modern.h>

#include <stdatomic.h>

#include "shim.h"

/*
 * If libibverbs has no such function, the call returns @failed, with errno ENOSYS. The structs of
 * IBVERBS_1.0 differ from today's, so they are void here.
 */
#define OLDER(ret, verb, params, args, failed) \
	ret shim_older_##verb params \
	{ \
		static void *_Atomic found; \
		ret(*real) params = \
			(ret(*) params)atomic_load_explicit(&found, memory_order_relaxed); \
 \
		if (!real) { \
			real = (ret(*) params)modern_older(#verb); \
			atomic_store_explicit(&found, (void *)real, memory_order_relaxed); \
		} \
		if (real) \
			return real args; \
		errno = ENOSYS; \
		return failed; \
	} \
	SHIM_EXPORT(older_##verb);

OLDER(void *, ibv_create_qp, (void *pd, void *attr), (pd, attr), NULL)
OLDER(int, ibv_modify_qp, (void *qp, void *attr, int mask), (qp, attr, mask), ENOSYS)
OLDER(int, ibv_query_qp, (void *qp, void *attr, int mask, void *init_attr),
      (qp, attr, mask, init_attr), ENOSYS)
OLDER(int, ibv_destroy_qp, (void *qp), (qp), ENOSYS)
OLDER(int, ibv_modify_srq, (void *srq, void *attr, int mask), (srq, attr, mask), ENOSYS)
OLDER(int, ibv_query_srq, (void *srq, void *attr), (srq, attr), ENOSYS)
OLDER(int, ibv_destroy_srq, (void *srq), (srq), ENOSYS)
OLDER(int, ibv_get_async_event, (void *context, void *event), (context, event), -1)
OLDER(void, ibv_ack_async_event, (void *event), (event), )
OLDER(int, ibv_close_device, (void *context), (context), -1)
