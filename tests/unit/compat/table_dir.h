/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A directory for the tables of one test program, which must be empty at the end. */
#ifndef TESTS_COMPAT_TABLE_DIR_H
#define TESTS_COMPAT_TABLE_DIR_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char table_dir[] = "/dev/shm/compat-test-XXXXXX";

static inline int table_dir_make(void)
{
	return mkdtemp(table_dir) ? setenv("XRC_COMPAT_TABLE_DIR", table_dir, 1) : -1;
}

/* For cmocka. */
static inline int table_dir_remove(void **state)
{
	(void)state;
	return rmdir(table_dir);
}

/*
 * Milliseconds of the library's clock. It lags behind others while a hypervisor keeps from running
 * the processor that advances it.
 */
static inline int64_t library_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the library checks its table again, or retries. */
static inline void pass_a_second(void)
{
	int64_t end = library_ms() + 1050;

	do
		usleep(50000);
	while (library_ms() < end);
}

#endif
