/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Why a command is refused: an errno stands for many checks, and the trace says which it was. */
#ifndef SOFTHCA_REFUSE_H
#define SOFTHCA_REFUSE_H

/* @error, whose reason is @check: a few words. */
#define REFUSE_MAX 64
int refuse(int error, const char *check);

/* The same of a check that is made of many things: @what of them. */
int refuse_one(int error, const char *check, const char *what);

/* The reason of the last refusal since refuse_begin(), or "". */
const char *refuse_reason(void);
void refuse_begin(void);

#endif
