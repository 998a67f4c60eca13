/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Asserts that legacy.h has the measured layouts, for the ABI of the build. */
#include <abi/legacy.h>

/* After it: these are the assertions. */
#include <abi/layout_legacy.h>
#include <abi/layout_legacy_mlnx.h>

/* Types that have not changed are today's in legacy.h. They are asserted with the old numbers. */
#include <abi/layout_embedded.h>

#define SLOT(number) (offsetof(struct legacy_context, ops) + (number) * sizeof(void *))

#ifdef __LP64__
_Static_assert(SLOT(LEGACY_OPS_QUERY_PORT) == 16, "ibv_query_port was a macro over ops");
_Static_assert(SLOT(LEGACY_OPS_POLL_CQ) == 96, "ibv_poll_cq was inline");
_Static_assert(SLOT(LEGACY_OPS_REQ_NOTIFY_CQ) == 104, "ibv_req_notify_cq was inline");
_Static_assert(SLOT(LEGACY_OPS_POST_SRQ_RECV) == 168, "ibv_post_srq_recv was inline");
_Static_assert(SLOT(LEGACY_OPS_POST_SEND) == 208, "ibv_post_send was inline");
_Static_assert(SLOT(LEGACY_OPS_POST_RECV) == 216, "ibv_post_recv was inline");
#else
_Static_assert(SLOT(LEGACY_OPS_QUERY_PORT) == 8, "ibv_query_port was a macro over ops");
_Static_assert(SLOT(LEGACY_OPS_POLL_CQ) == 48, "ibv_poll_cq was inline");
_Static_assert(SLOT(LEGACY_OPS_REQ_NOTIFY_CQ) == 52, "ibv_req_notify_cq was inline");
_Static_assert(SLOT(LEGACY_OPS_POST_SRQ_RECV) == 84, "ibv_post_srq_recv was inline");
_Static_assert(SLOT(LEGACY_OPS_POST_SEND) == 104, "ibv_post_send was inline");
_Static_assert(SLOT(LEGACY_OPS_POST_RECV) == 108, "ibv_post_recv was inline");
#endif
