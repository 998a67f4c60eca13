/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The groups of rows about a two-way QP as one object. */
#ifndef TESTS_E2E_TWOWAY_PAIR_H
#define TESTS_E2E_TWOWAY_PAIR_H

#include "../end.h"
#include "../../row.h"

/** one_message - a message arrives and is whole, and both completions carry the visible number. */
void one_message(struct end *from, struct end *to);
void both_ways(struct end *first, struct end *second);

/** refused - a message gets no answer: the sender's retries are used up. */
void refused(struct end *from);

/** must_flush - requests posted on a QP in ERR complete as flushed. */
void must_flush(struct end *end);

#endif
