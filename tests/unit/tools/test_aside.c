/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work in a process of its own: the result if the process ends well, late, badly, or not at all. */

#include "../unit.h"
#include "tools/common/common.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LATE_MICROSECONDS 600000

/* The result of work, and what it has written. */
static int begin(int (*work)(const void *context), int milliseconds, char *written)
{
	const struct aside aside = { .prepare = work };
	size_t size;
	int result;
	char *text = aside_output(&aside, milliseconds, &size, &result);

	assert_true(size <= 1);
	*written = text[0];
	free(text);
	return result;
}

/* The result of work that writes one byte, 5. */
static int done(int (*work)(const void *context))
{
	char written;
	int result = begin(work, 20000, &written);

	assert_int_equal(written, 5);
	return result;
}

static int give(void)
{
	return write(1, "\5", 1) == 1 ? 0 : EIO;
}

static int well(const void *context)
{
	(void)context;
	return give();
}

static int in_vain(const void *context)
{
	(void)context;
	return give() ? EIO : ENODEV;
}

/*
 * Ends as a process that the kernel ends slowly: the kernel closes its files long before waitpid()
 * returns it.
 */
static int late(const void *context)
{
	int err = give();

	(void)context;
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	usleep(LATE_MICROSECONDS);
	return err;
}

static int badly(const void *context)
{
	(void)context;
	return give() ? EIO : raise(SIGKILL);
}

static int never(const void *context)
{
	(void)context;
	return give() ? EIO : pause();
}

TEST(exit_status_is_the_result)
{
	assert_int_equal(done(well), 0);
	assert_int_equal(done(in_vain), -ENODEV);
	assert_int_equal(done(badly), -EIO);
}

/*
 * Output from before the timeout is kept. A busy machine may not write it in time, so the test
 * retries with longer timeouts.
 */
TEST(never_ends)
{
	char written = 0;

	for (int milliseconds = 300; !written && milliseconds < 30000; milliseconds *= 2)
		assert_int_equal(begin(never, milliseconds, &written), -ETIMEDOUT);
	assert_int_equal(written, 5);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);	/* the process is gone */
}

static void ignore(int number)
{
	(void)number;
}

/* The work ends after 5 s, so that a wait that forgets its limit fails and does not hang. */
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
	assert_int_equal(begin(five_seconds, 300, &written), -ETIMEDOUT);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

TEST(a_slow_end_is_no_failure)
{
	assert_int_equal(done(late), 0);
}

static int set_word(const void *word)
{
	return setenv("ASIDE_WORD", word, 1);
}

TEST(output_is_returned)
{
	char *words[] = { (char *)"sh", (char *)"-c",
			  (char *)"cat; echo $ASIDE_WORD; echo error >&2; exit 3", NULL };
	struct aside program = { words, set_word, "word", true };
	int result;
	char *text = aside_output(&program, 20000, NULL, &result);

	assert_int_equal(result, -3);
	assert_string_equal(text, "word\nerror\n");
	free(text);
	program.with_errors = false;
	text = aside_output(&program, 20000, NULL, &result);
	assert_string_equal(text, "word\n");
	free(text);
}

TEST(output_without_end_is_cut_off)
{
	char *words[] = { (char *)"sh", (char *)"-c",
			  (char *)"head -c 300000 /dev/zero | tr '\\0' x; echo end", NULL };
	const struct aside program = { .words = words };
	int result;
	char *text = aside_output(&program, 20000, NULL, &result);

	assert_int_equal(result, 0);
	assert_int_equal(strspn(text, "x"), 256 * 1024);
	free(text);
}

TEST(program_that_is_not_there)
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
