/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The states of receive QPs that only the process that made them has a handle of (devices without ibv_open_qp). */
#ifndef XRC_COMPAT_TOOLS_QP_OWNER_H
#define XRC_COMPAT_TOOLS_QP_OWNER_H

#include "tools/tables/view.h"

#include <stdbool.h>

/**
 * qp_owner_states - ask the owner of each such QP of the view through the table, as the library does for a process that
 * is not registered; give each state to be had, an enum ibv_qp_state, until that returns false. Who calls keeps the
 * domain's file open meanwhile. For the time of asking the caller is a member of the table, registered with nothing.
 */
void qp_owner_states(const struct regtab_view *view, bool (*give)(void *context, unsigned int qp, int state), void *context);

#endif
