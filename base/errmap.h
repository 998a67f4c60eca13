/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Translates errors: 0 or -errno inside, what the old verb returned outside. */
#ifndef BASE_ERRMAP_H
#define BASE_ERRMAP_H

#include <abi/verb.h>

/*
 * Returns what the verb returns for err, with errno set to match: on failure a positive errno, or
 * -1 for the verbs that say so in the table. For verbs that return a pointer the value has no
 * meaning (the shim returns NULL).
 * @err: 0 or -errno
 * @saved_errno: errno as the program had it, restored on success
 */
int errmap_return(enum verb verb, int err, int saved_errno);

#endif
