/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One table in actor_dir() and where its file is, for tests of the file. */
#ifndef REGTAB_TEST_TABLE_H
#define REGTAB_TEST_TABLE_H

#include <stddef.h>
#include <sys/types.h>

#include <compat/regtab/regtab.h>

extern struct regtab_key table_key;
extern char table_path[512];

/** For cmocka. The first fails if the directory is not empty, the second if a test left something there. */
int table_setup(void **state);
int table_teardown(void **state);

int table_open(struct regtab **tab, struct regtab_error *why);

/** table_make - a file at table_path: this content, then zeroes up to length, with this mode. */
void table_make(const void *content, size_t size, off_t length, mode_t mode);

/** table_refused - what is there is refused with this error, and the reason names the file and says this. */
void table_refused(int error, const char *phrase);

/** table_works - what is there is replaced by a table that does its work, and is gone afterwards. */
void table_works(void);

#endif
