/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One table and its file. */

#include <stdio.h>
#include <unistd.h>

#include <compat/regtab/file.h>

#include "actor.h"
#include "table.h"

struct regtab_key table_key;
char table_path[512];

int table_setup(void **state)
{
	struct table_file file;

	(void)state;
	table_key = actor_key(1);
	regtab_file_path(&file, actor_dir(), &table_key, 0);
	snprintf(table_path, sizeof(table_path), "%s", file.path);
	return actor_files(actor_dir()) ? -1 : 0;
}

int table_teardown(void **state)
{
	(void)state;
	unlink(table_path);
	rmdir(table_path);
	return actor_files(actor_dir()) ? -1 : 0;
}

int table_open(struct regtab **tab, struct regtab_error *why)
{
	return regtab_open(&table_key, actor_dir(), tab, why);
}
