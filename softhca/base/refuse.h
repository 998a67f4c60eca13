/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Why a command is refused. An errno stands for many checks; the trace names the one. */
#ifndef SOFTHCA_REFUSE_H
#define SOFTHCA_REFUSE_H

#define REFUSE_MAX 64

/* Returns @err, and remembers @check, a few words, as its reason. */
int refuse(int err, const char *check);

/* The same for a check of several things; @what names the one. */
int refuse_one(int err, const char *check, const char *what);

/* The reason of the last refusal since refuse_begin(), or "". */
const char *refuse_reason(void);
void refuse_begin(void);

#endif
