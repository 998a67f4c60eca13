/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Threads that enter, drop and refresh one entry at the same time. */

#include <pthread.h>

#include "regtab_fixture.h"

#define THREADS	8u
#define ROUNDS	20000u

static struct regtab_entry *entry;

/*
 * Each thread has a number of its own in the same word of the map. Now and then it makes an entry
 * of its own.
 */
static void *use(void *number)
{
	uint32_t qp_num = *(uint32_t *)number;
	struct regtab_news news;

	for (unsigned i = 0; i < ROUNDS; i++) {
		regtab_refresh(entry, &news);
		regtab_enter(entry, qp_num, true);
		if (i % 1000 == 0) {
			advance_a_second();
			regtab_free(new_entry(2));
		}
		if (i != ROUNDS - 1)
			regtab_drop(entry, qp_num);
	}
	return NULL;
}

TEST(threads_do_not_lose_each_others_registrations)
{
	uint32_t numbers[THREADS];
	pthread_t threads[THREADS];
	struct seen seen;

	entry = new_entry(1);
	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = 16 + i;
		assert_int_equal(pthread_create(&threads[i], NULL, use, &numbers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	seen = read_tables();
	assert_true(seen.qps == THREADS && seen.live == 1);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(seen.qp[i], numbers[i]);
	regtab_free(entry);
}

UNIT_MAIN(NULL, NULL)
