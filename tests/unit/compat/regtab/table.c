/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One table and its file. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <compat/regtab/file.h>

#include "../../unit.h"
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

void table_refused(int error, const char *phrase)
{
	struct regtab *tab = NULL;
	struct regtab_error why = { "" };

	assert_int_equal(table_open(&tab, &why), error);
	assert_null(tab);
	if (!strstr(why.text, table_path) || !strstr(why.text, phrase) || !strstr(why.text, "XRC_COMPAT_TABLE_DIR"))
		fail_msg("unhelpful: \"%s\", wanted \"%s\"", why.text, phrase);
}

void table_make(const void *content, size_t size, off_t length, mode_t mode)
{
	int fd = open(table_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, size), size);
	assert_int_equal(ftruncate(fd, length), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

void table_works(void)
{
	struct regtab_member *member;
	struct regtab *tab;

	assert_int_equal(table_open(&tab, NULL), 0);
	assert_int_equal(regtab_join(tab, "test", &member), 0);
	assert_int_equal(regtab_add(member, 1, REGTAB_BY_KERNEL), 0);
	assert_int_equal(regtab_count(tab, 1), 1);
	regtab_leave(member);
	regtab_close(tab);
	assert_int_equal(access(table_path, F_OK), -1);
}
