/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Rows: each is one statement that must hold. It runs in a process of its own, so that a crash or a hang is one failed row, and
 * ends at the first check that fails. Rows may leave objects to the kernel, as old programs do.
 */
#ifndef TESTS_E2E_CHANNEL_ROWS_H
#define TESTS_E2E_CHANNEL_ROWS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct row {
	const char *says;
	void (*run)(int variant);
};

struct group {
	const char *name;
	const struct row *rows;
	unsigned count;
};

#define GROUP(name) const struct group name##_group = { #name, rows, sizeof(rows) / sizeof(rows[0]) }

/**
 * rows_run - runs the rows of a group; prints a line for each, which begins with "ok" or "FAIL" and ends with the variant's
 * name. Returns 0, or 1 when one failed.
 */
int rows_run(const struct group *group, int variant, const char *variant_name);

void row_fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));

#define HOLDS(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			row_fail(__FILE__, __LINE__, "not so: " #condition);                                           \
	} while (0)

#define IS(got, want)                                                                                                  \
	do {                                                                                                           \
		long long got_ = (long long)(got), want_ = (long long)(want);                                          \
		if (got_ != want_)                                                                                     \
			row_fail(__FILE__, __LINE__, #got ": got %lld, want %lld", got_, want_);                       \
	} while (0)

#endif
