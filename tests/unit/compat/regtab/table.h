/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One table in actor_dir() and where its file is, for tests of the file. */
#ifndef REGTAB_TEST_TABLE_H
#define REGTAB_TEST_TABLE_H

#include <compat/regtab/regtab.h>

extern struct regtab_key table_key;
extern char table_path[512];

/** For cmocka. The first fails if the directory is not empty, the second if a test left something there. */
int table_setup(void **state);
int table_teardown(void **state);

int table_open(struct regtab **tab, struct regtab_error *why);

#endif
