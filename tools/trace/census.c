/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Counts traced calls by the place that makes them, and keeps account of what they leave. */
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

/* ---- what is left ---- */

static bool is_domain(const struct trace_record *record)
{
	return record->verb == VERB_ibv_open_xrc_domain;
}

static bool is_registration(const struct trace_left *left, const struct trace_record *record)
{
	return !is_domain(&left->record) && left->record.pid == record->pid &&
	       left->record.domain == record->domain && left->record.qp_num == record->qp_num;
}

/* Forgets what the process has in this domain: everything, or the registration with one QP. */
static void remove_left(struct trace_census *census, const struct trace_record *record, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < census->left_count; i++) {
		struct trace_left *left = census->left[i];

		if (all ? left->record.pid == record->pid && left->record.domain == record->domain
			: is_registration(left, record))
			free(left);
		else
			census->left[kept++] = left;
	}
	census->left_count = kept;
}

static void add_left(struct trace_census *census, const struct trace_record *record,
		     unsigned int site)
{
	struct trace_left *left = need_memory(malloc(sizeof(*left)));

	*left = (struct trace_left){ .site = site, .record = *record };
	census->left = grow(census->left, census->left_count, sizeof(*census->left));
	census->left[census->left_count++] = left;
}

static void account(struct trace_census *census, const struct trace_record *record,
		    unsigned int site)
{
	bool known = false;

	switch (record->verb) {
	case VERB_ibv_open_xrc_domain:
		/*
		 * The same address again: the device was closed in between, which closed the old
		 * domain.
		 */
		remove_left(census, record, true);
		add_left(census, record, site);
		break;
	case VERB_ibv_close_xrc_domain:
		remove_left(census, record, true);
		break;
	case VERB_ibv_create_xrc_rcv_qp:
	case VERB_ibv_reg_xrc_rcv_qp:
		/*
		 * Registering again changes nothing (contract 5.6), so the first call is reported.
		 */
		for (size_t i = 0; i < census->left_count && !known; i++)
			known = is_registration(census->left[i], record);
		if (!known)
			add_left(census, record, site);
		break;
	case VERB_ibv_unreg_xrc_rcv_qp:
		remove_left(census, record, false);
		break;
	default:
		break;
	}
}

/* ---- calls ---- */

const struct trace_site *trace_count(struct trace_census *census, const struct trace_record *record)
{
	struct trace_site *site = find_site(census, record);

	census->calls++;
	site->calls++;
	site->duration += record->duration;
	if (trace_failed(record))
		site->failures++;
	else
		account(census, record, site->number);
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
	for (size_t i = 0; i < census->left_count; i++)
		free(census->left[i]);
	free(census->sites);
	free(census->left);
	free(census->rank_reached);
}
