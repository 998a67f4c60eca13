/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The main() of tests that need process_vm_readv(), which qemu-user may lack. */
#ifndef SOFTHCA_TESTS_UNIT_MEMORY_H
#define SOFTHCA_TESTS_UNIT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

static inline bool memory_is_readable(void)
{
	uint8_t from = 1, to = 0;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

#define MEMORY_MAIN \
	int main(void) \
	{ \
		if (memory_is_readable()) \
			return cmocka_run_group_tests(unit_tests, NULL, NULL); \
		puts("process_vm_readv() does not work here"); \
		return 77; \
	}

#endif
