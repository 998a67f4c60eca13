/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* For all unit tests: cmocka with the headers that it needs, TEST(), and skips with a reason. */
#ifndef HARNESS_UNIT_H
#define HARNESS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* cmocka calls these before and after each test. A file may define its own. */
#ifndef UNIT_SETUP
#define UNIT_SETUP NULL
#endif
#ifndef UNIT_TEARDOWN
#define UNIT_TEARDOWN NULL
#endif
#define FIXTURE(name) static int name(void **state __attribute__((unused)))

/* cmocka skips unused elements, which have no name. */
static struct CMUnitTest unit_tests[64] __attribute__((unused));
static size_t unit_count __attribute__((unused));

/* TEST(name) { ... } adds a test. Tests run in the order of their file. */
#define TEST(test) \
	static void test(void **state); \
	static void __attribute__((constructor(1000 + __COUNTER__))) test##_add(void) \
	{ \
		assert_true(unit_count < sizeof(unit_tests) / sizeof(unit_tests[0])); \
		unit_tests[unit_count++] = (struct CMUnitTest){ \
			#test, test, UNIT_SETUP, UNIT_TEARDOWN, NULL \
		}; \
	} \
	static void test(void **state __attribute__((unused)))

/* The main() that runs all tests of the file. @setup and @teardown are for the group, or NULL. */
#define UNIT_MAIN(setup, teardown) \
	int main(void) \
	{ \
		return cmocka_run_group_tests(unit_tests, setup, teardown); \
	}

/* ./run-tests prints the reason again in its last lines. */
#define skip_because(reason)                           \
	do {                                           \
		print_message("%s\n", reason);         \
		skip();                                \
	} while (0)

/*
 * scripts/try-aarch64 runs the tests by qemu-user, which does not wipe pages at a fork, has a
 * /proc/self/stat of its own, and does not limit memory.
 */
#define skip_by_qemu_user() \
	do { \
		const char *wrapper_ = getenv("MESON_EXE_WRAPPER"); \
\
		if (wrapper_ && strstr(wrapper_, "qemu")) \
			skip_because("qemu-user differs from a kernel there"); \
	} while (0)

/* The status of a child process whose exit status is the value of the expression. */
#define in_child(expression) in_child_of(fork(), expression)

/* As a child of _Fork(), which runs no fork handlers. glibc has that function from 2.34 on. */
#define in_bare_child(expression) \
	in_child_of((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), expression)

#define in_child_of(forked, expression)                                \
	({                                                             \
		int status_ = -1;                                      \
		pid_t pid_ = forked;                                   \
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
