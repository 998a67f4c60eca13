/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The buffers that a rank sends from. Each is busy from its post to its completion; the wr_id of a
 * send is its slot.
 */
#ifndef TESTS_LEGACY_CLIENTS_SLOTS_H
#define TESTS_LEGACY_CLIENTS_SLOTS_H

#define SLOTS_MAX 64

struct slots {
	unsigned count;		/* at most SLOTS_MAX */
	unsigned in_flight;
	char busy[SLOTS_MAX];
};

/* Returns a slot that is not busy; calls @progress until there is one. */
static inline unsigned slots_wait(struct slots *slots, void (*progress)(void))
{
	unsigned slot;

	while (slots->in_flight == slots->count)
		progress();
	for (slot = 0; slots->busy[slot]; slot++)
		;
	return slot;
}

static inline void slots_take(struct slots *slots, unsigned slot)
{
	slots->busy[slot] = 1;
	slots->in_flight++;
}

static inline void slots_give(struct slots *slots, unsigned slot)
{
	slots->busy[slot] = 0;
	slots->in_flight--;
}

#endif
