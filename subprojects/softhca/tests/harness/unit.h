/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* For all unit tests: cmocka with the headers that it needs, TEST(), and skips with a reason. */
#ifndef HARNESS_UNIT_H
#define HARNESS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

#define skip_because(reason) \
	do { \
		print_message("%s\n", reason); \
		skip(); \
	} while (0)

#endif
