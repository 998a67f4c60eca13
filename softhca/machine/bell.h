/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Doorbells in a context's page: words that a program makes other than 0 when there is something to look at. */
#ifndef SOFTHCA_BELL_H
#define SOFTHCA_BELL_H

#include "hca.h"

/* It has rung and was not taken yet. */
bool bell_rings(const struct hca_context *ctx, const struct bell *bell);

/* The same, and it is silent from now on. What the program did before it rang is then visible. */
bool bell_take(struct hca_context *ctx, const struct bell *bell);

#endif
