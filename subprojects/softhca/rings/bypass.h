/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Detects programs whose mmap() is not our hook. */
#ifndef SOFTHCA_RINGS_BYPASS_H
#define SOFTHCA_RINGS_BYPASS_H

#include <stdbool.h>
#include <stddef.h>

/* True once the program's mmap() bypasses our hook. From then on the arena gets no more rings. */
bool bypass_detect(void);

/* True for the call of mmap() that bypass_detect() makes. */
bool bypass_is_probe(const void *address, size_t length, int fd);

#endif
