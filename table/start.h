/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* When a process started. The kernel reuses process ids; the id and the start name one process. */
#ifndef TABLE_START_H
#define TABLE_START_H

#include <stdint.h>

/* Returns the start as in @stat, a file "/proc/PID/stat"; 0 if that cannot be read. */
uint64_t regtab_start(const char *stat);

#endif
