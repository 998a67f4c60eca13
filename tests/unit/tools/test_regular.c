/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* regular_number(): values of /proc/PID/status, whose other lines a program chooses. */
#include <tools/files/regular.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <harness/unit.h>

TEST(the_name_of_a_process_is_no_value_of_its_status)
{
	assert_int_equal(prctl(PR_SET_NAME, "PPid:\t7"), 0);
	assert_int_equal(regular_number("/proc/self/status", "PPid:", 10), getppid());
}

/* A process can be in 65536 groups, which stand in one line. */
TEST(a_line_of_any_length_is_skipped)
{
	char path[] = "/tmp/test-regular-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	for (int i = 0; i < 65536; i++)
		fprintf(file, "%s%d", i ? " " : "Groups:\t", i);
	fputs("\nSigCgt:\t00000000000000a0\n", file);
	fclose(file);
	assert_int_equal(regular_number(path, "SigCgt:", 16), 0xa0);
	unlink(path);
}

TEST(a_name_that_no_line_has_is_zero)
{
	assert_int_equal(regular_number("/proc/self/status", "Nothing:", 10), 0);
	assert_int_equal(regular_number("/proc/self/nothing", "Pid:", 10), 0);
}

UNIT_MAIN(NULL, NULL)
