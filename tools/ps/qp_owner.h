/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The states of receive QPs of which only their creator has a handle (devices without ibv_open_qp). */
#ifndef XRC_COMPAT_TOOLS_QP_OWNER_H
#define XRC_COMPAT_TOOLS_QP_OWNER_H

#include "tools/tables/view.h"

#include <stdbool.h>

/**
 * qp_owner_states - ask the owner of each such QP of the view through the table, as the library does for a process that
 * is not registered. Calls give() with each state that is answered, an enum ibv_qp_state, until it returns false. The caller keeps
 * the domain's file open meanwhile. While asking it is a member of the table, registered with no QP.
 */
void qp_owner_states(const struct regtab_view *view, bool (*give)(void *context, unsigned int qp, int state), void *context);

#endif
