/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A directory for the tables of one test program, which must be empty at the end. */
#ifndef TESTS_COMPAT_TABLE_DIR_H
#define TESTS_COMPAT_TABLE_DIR_H

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
 * Until the library looks after its table again, or tries again: a second of its clock, which lags behind the one that
 * sleep(3) goes by while a hypervisor keeps from running the processor that advances it.
 */
static inline void pass_a_second(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &start);
	do {
		usleep(50000);
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 1050);
}

#endif
