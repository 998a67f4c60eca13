/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Doorbells in a context's page: a program writes a word other than 0 when it has posted work. */
#ifndef SOFTHCA_BELL_H
#define SOFTHCA_BELL_H

#include "hca.h"

/* It has rung and was not taken. */
bool bell_rings(const struct hca_context *ctx, const struct bell *bell);

/* The same, and takes it. Everything that the program wrote before it rang is then visible. */
bool bell_take(struct hca_context *ctx, const struct bell *bell);

#endif
