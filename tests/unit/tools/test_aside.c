/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work in a process of its own: the result if the process ends well, late, badly, or not at all. */

#include "../unit.h"
#include "tools/common/aside.h"

#include <errno.h>
#include <signal.h>
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

/* As a process that the kernel ends slowly: its files are closed long before it can be waited for. */
static int late(void *context, int out)
{
	int error = give(out);

	(void)context;
	close(out);
	usleep(LATE_MICROSECONDS);
	return error;
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

/* What was given before counts. A busy machine may need more than the shortest time even for that. */
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

UNIT_MAIN(NULL, NULL,
	UNIT(ends), UNIT(never_ends), UNIT(a_slow_end_is_no_failure))
