/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Runs rows, each in a process of its own: a row that crashes or hangs is one failed line. */
#ifndef HARNESS_ROW_H
#define HARNESS_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct row {
	const char *group, *name;
	const char *section; /* of the document that states the fact, or NULL */
	int needs; /* bits of the program's own: the runs of it that have the row */
	void (*before)(void), (*run)(void), (*after)(void);
	struct row *next;
};

/* row_add() is only for ROW(). row_first() returns the first of all rows. */
void row_add(struct row *row);
const struct row *row_first(void);

/* In a program with several groups of rows, each file defines its group before it includes this. */
#ifndef GROUP
#define GROUP ""
#endif

/* A file whose rows share their set-up defines these, too: they run in the row's process. */
#ifndef ROW_BEFORE
#define ROW_BEFORE NULL
#define ROW_AFTER NULL
#endif

/* ROW("a fact") { ... } adds a row to the program. Rows of a file run in its order. */
#define ROW(name_) ROW_NUMBERED(__COUNTER__, .name = name_)
#define ROW_NUMBERED(number, ...) ROW_DEFINED(number, __VA_ARGS__)
#define ROW_DEFINED(number, ...) \
	static void row_##number(void); \
	static void __attribute__((constructor(1000 + number))) row_add_##number(void) \
	{ \
		static struct row row = { .group = GROUP, .before = ROW_BEFORE, \
					  .run = row_##number, .after = ROW_AFTER, __VA_ARGS__ }; \
 \
		row_add(&row); \
	} \
	static void row_##number(void)

/*
 * Runs the rows that the arguments select: [GROUP] [PART_OF_NAME]. Each row runs in a process of
 * its own, and prints a line. --list prints the names of all rows instead. rows_main.c has a main()
 * for programs that only have rows.
 */
int rows_main(int argc, char **argv);

/*
 * Runs the row in a process of its own. True if the row has passed or was skipped, and no child of
 * it has failed.
 */
bool row_run(const struct row *row, const char *name);

/* Ends a row that cannot run here, as one about another adapter. Its line has the reason. */
void row_skip(const char *reason) __attribute__((noreturn));

/*
 * For a program with its own main(): row_begin() names a row, row_ok() prints that it passed. It
 * prints nothing if a child of the row has failed.
 */
void row_begin(const char *name);
void row_ok(void);

/* Prints the row's line and ends the process. */
void row_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/*
 * For a forked child of a row: its lines begin with @prefix. The child is killed when its parent
 * ends, and after a minute.
 */
void row_inherit(const char *prefix);

/* The child process ends with this status, as of waitpid(2). */
#define must_end(child, status) row_must_end(child, status, __FILE__, __LINE__)
void row_must_end(pid_t child, int status, const char *file, int line);

/* Returns the time of CLOCK_MONOTONIC. */
double seconds(void);

#define must(condition) \
	do { \
		if (!(condition)) \
			row_fail(__FILE__, __LINE__, "not so: %s; errno: %m", #condition); \
	} while (0)

#define must_eq(found, wanted) must_eq_as(#found, found, wanted, __FILE__, __LINE__)
#define must_eq_at(found, wanted, file, line) must_eq_as(#found, found, wanted, file, line)
#define must_eq_as(text, found, wanted, file, line) \
	do { \
		long long found_ = (long long)(found), wanted_ = (long long)(wanted); \
		if (found_ != wanted_) \
			row_fail(file, line, "%s is %lld (0x%llx), not %lld (0x%llx)", text, \
				 found_, (unsigned long long)found_, wanted_, \
				 (unsigned long long)wanted_); \
	} while (0)

#endif
