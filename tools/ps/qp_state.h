/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The states of the receive QPs of a table, as the kernel has them. */
#ifndef XRC_COMPAT_TOOLS_QP_STATE_H
#define XRC_COMPAT_TOOLS_QP_STATE_H

#include "tools/tables/view.h"

#define QP_STATE_UNKNOWN (-1)

/**
 * qp_states_read - ask, for that long at most. states: one for each of view->qps, an enum
 * ibv_qp_state or QP_STATE_UNKNOWN: the device is not there, no process has the domain's file open,
 * or only one that we may not look into.
 *
 * The QP is opened for a moment, as the library itself does for the query of a process that is not
 * registered. That registers nobody, and takes no events from others.
 */
void qp_states_read(const struct regtab_view *view, int *states, int milliseconds);

/** qp_state_name - "RESET", "INIT", "RTR", ...; "" for QP_STATE_UNKNOWN. */
const char *qp_state_name(int state);

#endif
