/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: ibv_open_xrc_domain, ibv_close_xrc_domain. */
#include <compat/domain.h>

#include "shim.h"

/*
 * Legacy: open the domain of fd's inode (-1: a private one); NULL on failure.
 * Modern: ibv_open_xrcd.
 * Difference: errno is always set; the old library left it alone when the driver had no XRC (now
 * ENOSYS).
 */
struct legacy_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag)
{
	struct legacy_xrc_domain *ldom = NULL;
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_open_xrc_domain, ARGUMENTS(context, fd, oflag));

	if (!err) {
		program_note_xrc();
		err = domain_open(context, fd, oflag, &ldom);
	}
	return shim_leave_made(&entry, err, ldom);
}
SHIM_EXPORT(ibv_open_xrc_domain);

/*
 * Legacy: EBUSY while SRQs or QPs of this opened device are in the domain, or this handle has
 * registrations.
 * Modern: ibv_close_xrcd. Today an XRC_SEND QP does not keep its domain busy, so the library counts
 * them.
 * Difference: NULL and stale pointers are EINVAL; the old library crashed.
 */
int ibv_close_xrc_domain(struct legacy_xrc_domain *ldom)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_close_xrc_domain, ARGUMENTS(ldom));

	if (!err)
		err = domain_close(ldom);
	return shim_leave(&entry, err);
}
SHIM_EXPORT(ibv_close_xrc_domain);
