/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Each target defines it; fuzz_driver.c calls it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
