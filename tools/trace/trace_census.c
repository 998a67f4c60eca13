/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Counts traced calls by the place that makes them, and keeps account of what they leave. */
#include "trace_census.h"
#include "tools/common/launchers.h"
#include "trace_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (1 << 20)

static bool same_place(const struct trace_record *a, const struct trace_record *b)
{
	if (a->verb != b->verb || !a->frame_count != !b->frame_count)
		return false;
	return !a->frame_count || (a->frames[0].offset == b->frames[0].offset &&
				   !strcmp(a->frames[0].module, b->frames[0].module));
}

static struct trace_site *find_site(struct trace_census *census, const struct trace_record *record,
				    bool *new)
{
	struct trace_site **link;
	unsigned int number = 1;

	*new = false;
	for (link = &census->sites; *link; link = &(*link)->next, number++) {
		if (same_place(&(*link)->first, record))
			return *link;
	}
	*link = calloc(1, sizeof(**link));
	if (*link) {
		(*link)->number = number;
		(*link)->first = *record;
		*new = true;
	}
	return *link;
}

static bool is_domain(const struct trace_left *left)
{
	return left->record.verb == VERB_ibv_open_xrc_domain;
}

/* Forgets what the process has in this domain: everything, or the registration with one QP. */
static void remove_left(struct trace_census *census, const struct trace_record *record, bool all)
{
	struct trace_left **link = &census->left;

	while (*link) {
		struct trace_left *left = *link;

		if (left->record.pid == record->pid && left->record.domain == record->domain &&
		    (all || (!is_domain(left) && left->record.qp_num == record->qp_num))) {
			*link = left->next;
			free(left);
		} else {
			link = &left->next;
		}
	}
}

static void add_left(struct trace_census *census, const struct trace_record *record,
		     const struct trace_site *site)
{
	struct trace_left **link;

	for (link = &census->left; *link; link = &(*link)->next)
		;
	*link = calloc(1, sizeof(**link));
	if (*link) {
		(*link)->record = *record;
		(*link)->site = site;
	}
}

static bool is_registered(const struct trace_census *census, const struct trace_record *record)
{
	for (const struct trace_left *left = census->left; left; left = left->next) {
		if (!is_domain(left) && left->record.pid == record->pid &&
		    left->record.domain == record->domain && left->record.qp_num == record->qp_num)
			return true;
	}
	return false;
}

static void account(struct trace_census *census, const struct trace_record *record,
		    const struct trace_site *site)
{
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
		if (!is_registered(census, record))
			add_left(census, record, site);
		break;
	case VERB_ibv_unreg_xrc_rcv_qp:
		remove_left(census, record, false);
		break;
	default:
		break;
	}
}

static void count_verb(struct trace_verb *verbs, const struct trace_became *became)
{
	for (struct trace_verb *verb = verbs; verb < verbs + TRACE_VERBS; verb++) {
		if (!verb->calls)
			memcpy(verb->function, became->function, sizeof(verb->function));
		if (strcmp(verb->function, became->function))
			continue;
		verb->calls++;
		verb->failures += became->err != 0;
		verb->duration += became->duration;
		return;
	}
}

const struct trace_site *trace_count(struct trace_census *census, const struct trace_record *record,
				     bool *new)
{
	struct trace_site *site = find_site(census, record, new);

	census->calls++;
	for (uint32_t i = 0; i < trace_became_kept(record); i++)
		count_verb(census->became[record->verb], &record->became[i]);
	if (!site)
		return NULL;
	site->calls++;
	site->duration += record->duration;
	if (trace_failed(record))
		site->failures++;
	else
		account(census, record, site);
	return site;
}

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
		census->rank_reached = calloc(RANKS_MAX, 1);
	if (!census->rank_reached || census->rank_reached[record->rank])
		return;
	census->rank_reached[record->rank] = 1;
	census->reached++;
}

bool trace_reached_all(const struct trace_census *census)
{
	if (!census->launcher[0])
		return true;
	return census->reached ? census->reached >= census->ranks : census->calls > 0;
}

void trace_census_free(struct trace_census *census)
{
	free(census->rank_reached);
	while (census->left) {
		struct trace_left *left = census->left;

		census->left = left->next;
		free(left);
	}
	while (census->sites) {
		struct trace_site *site = census->sites;

		census->sites = site->next;
		free(site);
	}
}
