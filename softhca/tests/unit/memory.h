/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Whether process_vm_readv() works, which a user-space emulator of another processor may lack. */
#ifndef SOFTHCA_TESTS_UNIT_MEMORY_H
#define SOFTHCA_TESTS_UNIT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

static inline bool memory_is_readable(void)
{
	uint8_t from = 1, to = 0;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

#endif
