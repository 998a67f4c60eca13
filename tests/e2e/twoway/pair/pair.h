/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The groups of rows about a two-way QP as one object. */
#ifndef TESTS_E2E_TWOWAY_PAIR_H
#define TESTS_E2E_TWOWAY_PAIR_H

#include "../end.h"
#include "../../row.h"

/** completes_with - the next completion has that status and the QP's visible number. */
void completes_with(struct end *end, enum ibv_wc_status status);

/** one_message - sends a message. Its bytes arrive, and both completions have visible numbers. */
void one_message(struct end *from, struct end *to);
void both_ways(struct end *first, struct end *second);

/** must_exceed_retries - sends a message that the peer does not acknowledge. */
void must_exceed_retries(struct end *end);

/** must_flush - sends a message on a QP in ERR: its completion is flushed. */
void must_flush(struct end *end);

#endif
