/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Functions and programs in a process of their own: their results, output and time limit. */

#include "../unit.h"
#include "tools/common/common.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum end { SUCCESS, FAILURE, KILLED, SLOW, NEVER };

/* Writes one byte, 5, and ends in this way. */
static int work(const void *end)
{
	if (write(1, "\5", 1) != 1)
		return EIO;
	switch (*(const enum end *)end) {
	case FAILURE:
		return ENODEV;
	case KILLED:
		return raise(SIGKILL);
	case SLOW:	/* The kernel may close a process's files long before it can be reaped. */
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
		usleep(600000);
		return 0;
	case NEVER:
		return pause();
	default:
		return 0;
	}
}

/* Runs @prepare; returns its result. @written gets the first byte of its output. */
static int run(int (*prepare)(const void *end), enum end end, int milliseconds, char *written)
{
	const struct aside aside = { .prepare = prepare, .context = &end };
	size_t size;
	int result;
	char *text = aside_output(&aside, milliseconds, &size, &result);

	assert_true(size <= 1);
	*written = text[0];
	free(text);
	return result;
}

/* The result of work that writes its byte in time. */
static int result_of(enum end end)
{
	char written;
	int result = run(work, end, 20000, &written);

	assert_int_equal(written, 5);
	return result;
}

TEST(the_result_is_0_or_the_negative_exit_status)
{
	assert_int_equal(result_of(SUCCESS), 0);
	assert_int_equal(result_of(FAILURE), -ENODEV);
}

TEST(the_result_of_a_killed_process_is_eio)
{
	assert_int_equal(result_of(KILLED), -EIO);
}

TEST(a_process_that_has_closed_its_output_is_awaited)
{
	assert_int_equal(result_of(SLOW), 0);
}

/*
 * Output from before the timeout is kept. A busy machine may not write it in time, so the test
 * retries with longer timeouts.
 */
TEST(a_process_that_does_not_end_is_killed)
{
	char written = 0;
	int status;

	for (int milliseconds = 300; !written && milliseconds < 30000; milliseconds *= 2)
		assert_int_equal(run(work, NEVER, milliseconds, &written), -ETIMEDOUT);
	assert_int_equal(written, 5);
	/* Without the kill SIGALRM ends this test. */
	alarm(30);
	while (waitpid(-1, &status, 0) > 0)
		assert_int_equal(WTERMSIG(status), SIGKILL);
	alarm(0);
}

static void ignore(int number)
{
	(void)number;
}

/* If the limit is extended, this ends after 5 s, so the test fails and does not hang. */
static int five_seconds(const void *context)
{
	(void)context;
	sleep(5);
	return 0;
}

TEST(a_signal_does_not_extend_the_limit)
{
	const struct itimerval each_50_ms = { { .tv_usec = 50000 }, { .tv_usec = 50000 } };
	char written;

	signal(SIGALRM, ignore);
	setitimer(ITIMER_REAL, &each_50_ms, NULL);
	assert_int_equal(run(five_seconds, SUCCESS, 300, &written), -ETIMEDOUT);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

static int set_word(const void *word)
{
	return setenv("ASIDE_WORD", word, 1);
}

/* The output of a shell with this script; 20 s are its limit. */
static char *output_of(const char *script, bool with_errors, int *result)
{
	char *words[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	const struct aside program = { words, set_word, "word", with_errors };

	return aside_output(&program, 20000, NULL, result);
}

static void expect_output(const char *script, bool with_errors, const char *wanted)
{
	int result;
	char *text = output_of(script, with_errors, &result);

	assert_string_equal(text, wanted);
	free(text);
}

TEST(the_result_of_a_program_is_its_negative_exit_status)
{
	int result;

	free(output_of("exit 3", false, &result));
	assert_int_equal(result, -3);
}

TEST(prepare_changes_the_environment_of_the_program)
{
	expect_output("echo $ASIDE_WORD", false, "word\n");
}

TEST(errors_are_in_the_output_only_if_they_are_wanted)
{
	expect_output("echo out; echo error >&2", true, "out\nerror\n");
	expect_output("echo out; echo error >&2", false, "out\n");
}

/* The input of this test has a byte, which the program must not read. */
TEST(the_input_of_a_program_is_empty)
{
	int ends[2], own = dup(0);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	close(ends[1]);
	dup2(ends[0], 0);
	close(ends[0]);
	expect_output("cat", false, "");
	dup2(own, 0);
	close(own);
}

TEST(a_program_that_writes_more_than_256_kib_is_stopped)
{
	int result;
	char *text = output_of("yes", false, &result);

	assert_int_equal(result, -EFBIG);
	assert_int_equal(strlen(text), 256 * 1024);
	free(text);
}

TEST(a_program_that_does_not_exist_has_status_126)
{
	char *words[] = { (char *)"/nonexistent", NULL };
	const struct aside program = { .words = words };
	int result;
	char *text = aside_output(&program, 20000, NULL, &result);

	assert_int_equal(result, -126);
	assert_string_equal(text, "");
	free(text);
}

UNIT_MAIN(NULL, NULL)
