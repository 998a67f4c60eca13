/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Why a command is refused. An errno stands for many checks; the trace names the one. */
#ifndef SOFTHCA_REFUSE_H
#define SOFTHCA_REFUSE_H

#define REFUSE_MAX 64

/* Returns @err, and remembers @check, a few words as for printf(3), as its reason. */
int refuse(int err, const char *check, ...) __attribute__((format(printf, 2, 3)));

/* The reason of the last refusal since refuse_begin(), or "". */
const char *refuse_reason(void);
void refuse_begin(void);

#endif
