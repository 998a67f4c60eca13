/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A skip states its reason, which the last lines of ./run-tests repeat. After <cmocka.h>. */
#ifndef TESTS_UNIT_SKIP_H
#define TESTS_UNIT_SKIP_H

#include <sys/wait.h>

#define skip_because(reason)                           \
	do {                                           \
		print_message("%s\n", reason);         \
		skip();                                \
	} while (0)

/* What a child process returned that was to pass (0), or was not permitted to try (77). */
static inline void child_passed(int status, const char *why_not_tried)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip_because(why_not_tried);
	assert_int_equal(status, 0);
}

#endif
