/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A directory for the tables of one test program, which must be empty at the end. */
#ifndef TESTS_COMPAT_TABLE_DIR_H
#define TESTS_COMPAT_TABLE_DIR_H

#include <stdlib.h>
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

#endif
