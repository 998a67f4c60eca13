/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The rows about a two-way QP as one object. Each row gets two ends, in one process, on a device
 * each. Their QPs are in RESET and know each other's address. After the row both ends are closed.
 */
#ifndef TESTS_E2E_XRC_QPS_PAIR_H
#define TESTS_E2E_XRC_QPS_PAIR_H

#define ROW_BEFORE open_ends
#define ROW_AFTER close_ends

#include "../end.h"
#include "../../row.h"

extern struct end a, b;

void open_ends(void);
void close_ends(void);

/** connect_ends - brings both QPs to RTS. */
void connect_ends(void);

/** meet - each end gets the other's address. */
void meet(void);

/** renew_qps - new QPs in the place of those that are left. */
void renew_qps(void);

/** completes_with - the next completion has that status and the QP's visible number. */
void completes_with(struct end *end, enum ibv_wc_status status);

/** one_message - sends a message. Its bytes arrive, and both completions have visible numbers. */
void one_message(struct end *from, struct end *to);
void both_ways(void);

/** must_exceed_retries - sends a message that the peer does not acknowledge. */
void must_exceed_retries(struct end *end);

/** must_flush - sends a message on a QP in ERR: its completion is flushed. */
void must_flush(struct end *end);

#endif
