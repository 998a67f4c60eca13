/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What every unit test needs: cmocka with the headers that it wants before it, tests, fixtures,
 * skips with a reason.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

/* The head of a test, or of what runs before or after tests, that has no use for cmocka's state. */
#define TEST(name) static void name(void **state __attribute__((unused)))
#define FIXTURE(name) static int name(void **state __attribute__((unused)))

/*
 * One test of a program, and the main() that runs all of them. @setup and @teardown are for the
 * group, or NULL.
 */
#define UNIT(test) cmocka_unit_test(test)
#define UNIT_MAIN(setup, teardown, ...)                                        \
	int main(void)                                                         \
	{                                                                      \
		const struct CMUnitTest tests[] = { __VA_ARGS__ };             \
                                                                               \
		return cmocka_run_group_tests(tests, setup, teardown);         \
	}

/* The last lines of ./run-tests repeat the reason. */
#define skip_because(reason)                           \
	do {                                           \
		print_message("%s\n", reason);         \
		skip();                                \
	} while (0)

/* The status of a child process whose exit status is the value of the expression. */
#define in_child(expression)                                           \
	({                                                             \
		int status_ = -1;                                      \
		pid_t pid_ = fork();                                   \
                                                                       \
		if (!pid_)                                             \
			_exit(expression);                             \
		assert_int_equal(waitpid(pid_, &status_, 0), pid_);    \
		status_;                                               \
	})

/* A child process passed (exit status 0), or was not permitted to try (77). */
static inline void child_passed(int status, const char *why_not_tried)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip_because(why_not_tried);
	assert_int_equal(status, 0);
}

#endif
