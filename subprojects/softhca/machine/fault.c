/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Faults on purpose. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64: every seed is a good one, 0 too. */
static uint64_t next_random(struct faults *faults)
{
	uint64_t value = faults->random += 0x9e3779b97f4a7c15ull;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ value >> 27) * 0x94d049bb133111ebull;
	return value ^ value >> 31;
}

void fault_seed(struct faults *faults, uint64_t seed)
{
	faults->random = seed;
}

void fault_clear(struct faults *faults)
{
	memset(faults->rate, 0, sizeof(faults->rate));
	memset(faults->command, 0, sizeof(faults->command));
}

bool fault_strikes(struct faults *faults, enum fault_kind kind)
{
	/* A fault that is off draws no number: that would change the sequence of the others. */
	if (!faults->rate[kind] || next_random(faults) % FAULT_ALWAYS >= faults->rate[kind])
		return false;
	faults->hits[kind]++;
	return true;
}

/* FAULT_COMMANDS when there is none. */
static int free_slot(const struct faults *faults)
{
	int slot = 0;

	while (slot < FAULT_COMMANDS && faults->command[slot].times)
		slot++;
	return slot;
}

bool fault_is_full(const struct faults *faults)
{
	return free_slot(faults) == FAULT_COMMANDS;
}

void fault_plan_command(struct faults *faults, uint32_t command, int err, uint32_t times)
{
	int slot = free_slot(faults);

	if (slot < FAULT_COMMANDS)
		faults->command[slot] = (struct fault_command){ command, err, times };
}

int fault_of_command(struct faults *faults, uint32_t command)
{
	for (int i = 0; i < FAULT_COMMANDS; i++) {
		struct fault_command *planned = &faults->command[i];

		if (!planned->times ||
		    (planned->command != command && planned->command != FAULT_ANY))
			continue;
		planned->times--;
		return -planned->err;
	}
	return 0;
}

int fault_parse_rate(const char *text, uint32_t *rate)
{
	char *end;
	double percent = strtod(text, &end);

	/* "5" could mean 5 % as well as always. */
	if (end == text || (strcmp(end, "%") && (*end || percent > 0)) ||
	    !(percent >= 0 && percent <= 100))
		return -EINVAL;
	*rate = (uint32_t)(percent / 100 * FAULT_ALWAYS + 0.5);
	/* A rate that is rounded to 0 would mean never. */
	return percent > 0 && !*rate ? -EINVAL : 0;
}
