/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Runs the rows of a table, each in a process of its own: a row that crashes or hangs is one failed
 * line.
 */
#ifndef TESTS_E2E_ROW_H
#define TESTS_E2E_ROW_H

#include <stdbool.h>
#include <stddef.h>

struct row {
	const char *name;
	void (*run)(void);
};

struct group {
	const char *name;
	const struct row *rows;
	size_t count;
};

#define GROUP(name) \
	const struct group name##_group = { #name, name##_rows, \
					    sizeof(name##_rows) / sizeof(name##_rows[0]) }

/**
 * rows_run - those whose name contains @only (NULL: all), one line each. Returns the program's exit
 * status.
 */
int rows_run(const struct row *rows, size_t count, const char *only);

/** groups_main - main() of a program with several groups (NULL ends): GROUP [PART_OF_NAME]. */
int groups_main(const struct group *const *groups, int argc, char **argv);

/**
 * row_begin, row_ok - for a program that runs its rows in one process: a row's name, and its line
 * when it has passed.
 */
void row_begin(const char *name);
void row_ok(void);

/** row_fail - prints the row's line and ends the process. */
void row_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/**
 * row_inherit - in a forked child of a row: its failures are the row's, their lines begin with
 * @who.
 */
void row_inherit(const char *who);

/** seconds - on a clock that does not jump. */
double seconds(void);

#define ROWS(table) (table), sizeof(table) / sizeof((table)[0])

#define must(condition) \
	do { \
		if (!(condition)) \
			row_fail(__FILE__, __LINE__, "not so: %s", #condition); \
	} while (0)

#define must_eq(found, wanted) \
	do { \
		long long found_ = (long long)(found), wanted_ = (long long)(wanted); \
		if (found_ != wanted_) \
			row_fail(__FILE__, __LINE__, \
				 "%s is %lld (0x%llx), not %lld (0x%llx)", #found, \
				 found_, (unsigned long long)found_, wanted_, \
				 (unsigned long long)wanted_); \
	} while (0)

#endif
