/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The rows about a two-way QP as one object. Each row gets two sides, in one process, on a device
 * each. Their QPs are in RESET and know each other's address. After the row both are closed.
 */
#ifndef TESTS_E2E_XRC_QPS_PAIR_H
#define TESTS_E2E_XRC_QPS_PAIR_H

#define ROW_BEFORE open_sides
#define ROW_AFTER close_sides

#include "../side.h"
#include <harness/row.h>

extern struct side a, b;

void open_sides(void);
void close_sides(void);

/* Brings both QPs to RTS. */
void connect_sides(void);

/* Each side gets the other's address. */
void meet(void);

/* Makes new QPs in the place of those that are left. */
void renew_qps(void);

/* The next completion has that status and the QP's visible number. */
void completes_with(struct side *side, enum ibv_wc_status status);

/* Sends a message. Its bytes arrive, and both completions have visible numbers. */
void one_message(struct side *from, struct side *to);
void both_ways(void);

/* Sends a message that the peer does not acknowledge. */
void must_exceed_retries(struct side *side);

/* Sends a message on a QP in ERR: its completion is flushed. */
void must_flush(struct side *side);

#endif
