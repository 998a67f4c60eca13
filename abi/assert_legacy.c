/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Asserts that legacy.h has the measured layouts, for the ABI of the build. */
#include <abi/legacy.h>

/* The assertions about the types of legacy.h. */
#include <abi/layout_legacy.h>
#include <abi/layout_legacy_mlnx.h>

/* Types that have not changed are today's in legacy.h. They are asserted with the old numbers. */
#include <abi/layout_embedded.h>

#define SLOT(number) (offsetof(struct legacy_context, ops) + (number) * sizeof(void *))

/* Old headers called these slots inline, at the old offsets of 64 and 32 bits. */
#define SLOT_AT(slot, lp64, ilp32) \
	_Static_assert(SLOT(slot) == (sizeof(void *) == 8 ? (lp64) : (ilp32)), #slot)

SLOT_AT(LEGACY_OPS_QUERY_PORT, 16, 8);
SLOT_AT(LEGACY_OPS_POLL_CQ, 96, 48);
SLOT_AT(LEGACY_OPS_REQ_NOTIFY_CQ, 104, 52);
SLOT_AT(LEGACY_OPS_POST_SRQ_RECV, 168, 84);
SLOT_AT(LEGACY_OPS_POST_SEND, 208, 104);
SLOT_AT(LEGACY_OPS_POST_RECV, 216, 108);
