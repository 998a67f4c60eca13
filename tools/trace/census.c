/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Counts traced calls by the place that makes them, and the processes that were reached. */
#include "tools/common/launchers.h"
#include "tools/common/memory.h"
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (1 << 20)

bool trace_failed(const struct trace_record *record)
{
	static const bool returns_pointer[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = returns == RETURNS_NULL,
		ABI_FUNCTIONS(X)
#undef X
	};

	return returns_pointer[record->verb] ? !record->result : record->result != 0;
}

uint32_t trace_became_kept(const struct trace_record *record)
{
	return record->became_count < TRACE_BECAME ? record->became_count : TRACE_BECAME;
}

/* ---- sites ---- */

static bool same_place(const struct trace_record *a, const struct trace_record *b)
{
	if (a->verb != b->verb || !a->frame_count != !b->frame_count)
		return false;
	return !a->frame_count || (a->frames[0].offset == b->frames[0].offset &&
				   !strcmp(a->frames[0].module, b->frames[0].module));
}

static struct trace_site *find_site(struct trace_census *census, const struct trace_record *record)
{
	struct trace_site *site;

	for (size_t i = 0; i < census->site_count; i++) {
		if (same_place(&census->sites[i]->first, record))
			return census->sites[i];
	}
	site = need_memory(calloc(1, sizeof(*site)));
	site->first = *record;
	census->sites = grow(census->sites, census->site_count, sizeof(*census->sites));
	census->sites[census->site_count++] = site;
	site->number = (unsigned int)census->site_count;
	return site;
}

/* ---- calls ---- */

const struct trace_site *trace_count(struct trace_census *census, const struct trace_record *record)
{
	struct trace_site *site = find_site(census, record);

	census->calls++;
	site->calls++;
	site->duration += record->duration;
	site->failures += trace_failed(record);
	return site;
}

/* ---- processes ---- */

void trace_started_by_name(struct trace_census *census, const char *program)
{
	if (!census->launcher[0] && is_launcher(program))
		snprintf(census->launcher, sizeof(census->launcher), "%s", basename(program));
}

/* A launcher is no rank, even if it has the variables of the batch job. */
void trace_started(struct trace_census *census, const struct trace_record *record, int32_t first)
{
	const char *program = record->frame_count ? record->frames[0].module : "";

	census->started = true;
	trace_started_by_name(census, program);
	if (is_launcher(program))
		return;
	if (record->pid == first || record->rank < 0 || record->rank >= RANKS_MAX)
		return;
	if (record->ranks > (int32_t)census->ranks && record->ranks <= RANKS_MAX)
		census->ranks = (uint32_t)record->ranks;
	if (!census->rank_reached)
		census->rank_reached = need_memory(calloc(RANKS_MAX, 1));
	census->reached += !census->rank_reached[record->rank];
	census->rank_reached[record->rank] = 1;
}

bool trace_reached_all(const struct trace_census *census)
{
	if (!census->launcher[0])
		return true;
	return census->reached ? census->reached >= census->ranks : census->calls > 0;
}

void trace_census_free(struct trace_census *census)
{
	for (size_t i = 0; i < census->site_count; i++)
		free(census->sites[i]);
	free(census->sites);
	free(census->rank_reached);
}
