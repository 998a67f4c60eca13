/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Functions and programs in a process of their own: their results, output and time limit. */

#include <harness/unit.h>
#include <tools/aside/aside.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_word(const void *word)
{
	return setenv("ASIDE_WORD", word, 1);
}

/* Runs a shell with this script; returns its result. Its output is in @text. */
static struct aside_result run(const char *script, bool with_errors, int milliseconds, char **text)
{
	char *words[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	const struct aside program = { words, set_word, "word", with_errors };
	struct aside_result result;

	*text = aside_output(&program, milliseconds, &result);
	return result;
}

static void expect(const char *script, bool with_errors, int status, const char *wanted)
{
	char *text;
	struct aside_result result = run(script, with_errors, 20000, &text);

	assert_int_equal(result.err, 0);
	assert_int_equal(result.status, status);
	assert_string_equal(text, wanted);
	free(text);
}

/* The kernel may close a process's files long before it can be reaped. */
TEST(an_exit_status_a_signal_and_an_error_differ)
{
	expect("printf 5", false, 0, "5");
	expect("exit 110", false, W_EXITCODE(ETIMEDOUT, 0), "");
	expect("printf 5; kill -9 $$", false, W_EXITCODE(0, SIGKILL), "5");
	expect("printf 5; exec >&- 2>&-; sleep 0.6; exit 3", false, W_EXITCODE(3, 0), "5");
}

/*
 * Output from before the timeout is kept. A busy machine may not write it in time, so the test
 * retries with longer timeouts.
 */
TEST(a_process_that_does_not_end_is_killed)
{
	bool written = false;
	char *text;
	int status;

	for (int milliseconds = 300; !written && milliseconds < 30000; milliseconds *= 2) {
		assert_int_equal(run("printf 5; exec sleep 60", false, milliseconds, &text).err,
				 -ETIMEDOUT);
		written = !strcmp(text, "5");
		free(text);
	}
	assert_true(written);
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

/* If the limit is extended, the program writes after 5 s, so the test fails and does not hang. */
TEST(a_signal_does_not_extend_the_limit)
{
	const struct itimerval each_50_ms = { { .tv_usec = 50000 }, { .tv_usec = 50000 } };
	char *text;

	signal(SIGALRM, ignore);
	setitimer(ITIMER_REAL, &each_50_ms, NULL);
	assert_int_equal(run("sleep 5; echo late", false, 300, &text).err, -ETIMEDOUT);
	assert_string_equal(text, "");
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	free(text);
}

TEST(the_environment_and_the_streams_are_those_that_were_asked_for)
{
	expect("echo $ASIDE_WORD", false, 0, "word\n");
	expect("echo out; echo error >&2", true, 0, "out\nerror\n");
	expect("echo out; echo error >&2", false, 0, "out\n");
	expect("readlink /proc/self/fd/0", false, 0, "/dev/null\n");
}

TEST(a_program_that_writes_more_than_256_kib_is_stopped)
{
	char *text;

	assert_int_equal(run("yes", false, 20000, &text).err, -EFBIG);
	assert_int_equal(strlen(text), 256 * 1024);
	free(text);
}

UNIT_MAIN(NULL, NULL)
