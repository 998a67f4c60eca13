/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * regular_number(): values of /proc/PID/status, whose other lines a program chooses.
 * regular_open(): regular files alone are opened.
 */
#include <tools/files/regular.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* A writer of a FIFO waits in open(2) until a reader opens the FIFO. */
TEST(a_fifo_is_not_opened)
{
	char path[] = "/tmp/test-regular-XXXXXX";
	int reader, status;
	pid_t writer;

	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	writer = fork();
	if (!writer) {
		alarm(30);
		_exit(open(path, O_WRONLY) < 0);
	}
	usleep(50000);
	assert_int_equal(regular_open(path), -EACCES);
	usleep(50000);
	assert_int_equal(waitpid(writer, &status, WNOHANG), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	close(reader);
	unlink(path);
}

TEST(what_is_no_regular_file_is_refused)
{
	assert_int_equal(regular_open("/dev/zero"), -EACCES);
	assert_int_equal(regular_open("/tmp"), -EACCES);
	assert_int_equal(regular_open("/nonexistent"), -ENOENT);
}

UNIT_MAIN(NULL, NULL)
