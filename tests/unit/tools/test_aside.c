/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work in a process of its own: the result if the process ends well, late, badly, or not at all. */

#include "../unit.h"
#include "tools/common/aside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATE_MICROSECONDS 600000

static bool take(void *context, const void *record)
{
	*(int *)context += *(const int *)record;
	return true;
}

/* The result of work that gives records, and their sum. */
static int begin(int (*work)(void *context, int out), int milliseconds, int *sum)
{
	const struct aside aside = { work, take, sum, sizeof(int) };

	*sum = 0;
	return aside_do(&aside, milliseconds);
}

/* The result of work that gives one record, 5. */
static int done(int (*work)(void *context, int out))
{
	int sum, result = begin(work, 20000, &sum);

	assert_int_equal(sum, 5);
	return result;
}

static int give(int out)
{
	const int value = 5;

	return aside_give(out, &value, sizeof(value)) ? 0 : EIO;
}

static int well(void *context, int out)
{
	(void)context;
	return give(out);
}

static int in_vain(void *context, int out)
{
	(void)context;
	return give(out) ? EIO : ENODEV;
}

/*
 * As a process that the kernel ends slowly: its files are closed long before it can be waited for.
 */
static int late(void *context, int out)
{
	int err = give(out);

	(void)context;
	close(out);
	usleep(LATE_MICROSECONDS);
	return err;
}

static int badly(void *context, int out)
{
	(void)context;
	return give(out) ? EIO : raise(SIGKILL);
}

static int never(void *context, int out)
{
	(void)context;
	return give(out) ? EIO : pause();
}

TEST(ends)
{
	assert_int_equal(done(well), 0);
	assert_int_equal(done(in_vain), -ENODEV);
	assert_int_equal(done(badly), -EIO);
}

/*
 * What was given before counts. A busy machine may need more than the shortest time even for that.
 */
TEST(never_ends)
{
	int sum = 0;

	for (int milliseconds = 300; !sum && milliseconds < 30000; milliseconds *= 2)
		assert_int_equal(begin(never, milliseconds, &sum), -ETIMEDOUT);
	assert_int_equal(sum, 5);
}

TEST(a_slow_end_is_no_failure)
{
	assert_int_equal(done(late), 0);
}

static void set_word(const void *word)
{
	setenv("ASIDE_WORD", word, 1);
}

TEST(output)
{
	char *words[] = { (char *)"sh", (char *)"-c",
			  (char *)"cat; echo $ASIDE_WORD; echo error >&2; exit 3", NULL };
	struct aside_program program = { words, set_word, "word", true };
	int result;
	char *text = aside_output(&program, 20000, &result);

	assert_int_equal(result, -3);
	assert_string_equal(text, "word\nerror\n");
	free(text);
	program.with_errors = false;
	text = aside_output(&program, 20000, &result);
	assert_string_equal(text, "word\n");
	free(text);
}

TEST(output_without_end_is_cut_off)
{
	char *words[] = { (char *)"sh", (char *)"-c",
			  (char *)"head -c 300000 /dev/zero | tr '\\0' x; echo end", NULL };
	const struct aside_program program = { .words = words };
	int result;
	char *text = aside_output(&program, 20000, &result);

	assert_int_equal(result, 0);
	assert_int_equal(strspn(text, "x"), 256 * 1024);
	free(text);
}

TEST(program_that_is_not_there)
{
	char *words[] = { (char *)"/nonexistent", NULL };
	const struct aside_program program = { .words = words };
	int result;
	char *text = aside_output(&program, 20000, &result);

	assert_int_equal(result, -126);
	assert_string_equal(text, "");
	free(text);
}

UNIT_MAIN(NULL, NULL,
	UNIT(ends), UNIT(never_ends), UNIT(a_slow_end_is_no_failure), UNIT(output),
	UNIT(output_without_end_is_cut_off), UNIT(program_that_is_not_there))
