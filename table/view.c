/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Adds up the tables of all processes, and finds QPs in them. */
#include "view.h"
#include "find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct registration {
	uint32_t qp_num;
	bool created;
};

/* ---- members ---- */

static struct regtab_view_member *add_member(struct regtab_view *all,
					     const struct regtab_process *process)
{
	struct regtab_view_member *member = reallocarray(all->members, all->member_count + 1,
							 sizeof(*member));

	if (!member)
		return NULL;
	all->members = member;
	member += all->member_count++;
	*member = (struct regtab_view_member){ .pid = process->pid,
					       .uid = process->uid,
					       .reason = process->reason,
					       .unread = process->unread };
	memcpy(member->command, process->command, sizeof(member->command));
	memcpy(member->path, process->path, sizeof(member->path));
	return member;
}

static int compare_registrations(const void *left, const void *right)
{
	const struct registration *a = left, *b = right;

	return (a->qp_num > b->qp_num) - (a->qp_num < b->qp_num);
}

static int add_registrations(struct regtab_view_member *member, const struct regtab_file *file,
			     unsigned domain)
{
	member->registrations = calloc(file->place_count + 1, sizeof(*member->registrations));
	if (!member->registrations)
		return -ENOMEM;
	for (unsigned i = 0; i < file->place_count; i++) {
		uint32_t place = file->places[i];

		if (place & REGTAB_REGISTERED && REGTAB_DOMAIN(place) == domain)
			member->registrations[member->registration_count++] =
				(struct registration){ REGTAB_QP_NUM(place),
						       place & REGTAB_CREATED };
	}
	qsort(member->registrations, member->registration_count, sizeof(*member->registrations),
	      compare_registrations);
	return 0;
}

static int note_process(void *context, const struct regtab_process *process,
			const struct regtab_file *file)
{
	struct regtab_view *all = context;

	if (!file)
		return add_member(all, process) ? 0 : -ENOMEM;
	for (unsigned i = 0; i < REGTAB_DOMAINS; i++) {
		struct regtab_view_member *member;

		if (!file->domains[i].since)
			continue;
		member = add_member(all, process);
		if (!member || add_registrations(member, file, i))
			return -ENOMEM;
		member->key = file->domains[i].key;
		member->key.device[sizeof(member->key.device) - 1] = 0;
		member->since = file->domains[i].since;
		member->missing = file->missing;
	}
	return 0;
}

/* ---- QPs ---- */

/* The member's first registration from this number on; NULL: it has none. */
static const struct registration *registration_from(const struct regtab_view_member *member,
						    uint32_t qp_num)
{
	unsigned first = 0, end = member->registration_count;

	while (first < end) {
		unsigned middle = (first + end) / 2;

		if (member->registrations[middle].qp_num < qp_num)
			first = middle + 1;
		else
			end = middle;
	}
	return first < member->registration_count ? &member->registrations[first] : NULL;
}

bool regtab_view_registered(const struct regtab_view *view, uint32_t qp_num, unsigned member)
{
	const struct registration *found = registration_from(&view->members[member], qp_num);

	return found && found->qp_num == qp_num;
}

bool regtab_view_next(const struct regtab_view *view, uint32_t from, struct regtab_view_qp *qp)
{
	*qp = (struct regtab_view_qp){ .qp_num = UINT32_MAX };
	for (unsigned i = 0; i < view->member_count; i++) {
		const struct regtab_view_member *member = &view->members[i];
		const struct registration *found = registration_from(member, from);

		if (!found || found->qp_num > qp->qp_num)
			continue;
		if (found->qp_num < qp->qp_num)
			*qp = (struct regtab_view_qp){ .qp_num = found->qp_num };
		qp->registrants++;
		if (found->created)
			qp->creator = member;
	}
	return qp->registrants;
}

/* ---- tables ---- */

/* Members with a reason come last, and each is a table of its own. */
static int compare_tables(const struct regtab_view_member *a, const struct regtab_view_member *b)
{
	if (!a->reason != !b->reason)
		return a->reason ? 1 : -1;
	if (a->unread != b->unread)
		return a->unread ? 1 : -1;
	if (a->reason)
		return a->pid - b->pid;
	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return memcmp(&a->key, &b->key, sizeof(a->key));
}

static int compare_members(const void *left, const void *right)
{
	const struct regtab_view_member *a = left, *b = right;
	int order = compare_tables(a, b);

	if (!order && a->since != b->since)
		order = a->since < b->since ? -1 : 1;
	return order ? order : a->pid - b->pid;
}

bool regtab_next(const struct regtab_view *all, struct regtab_view *table)
{
	const struct regtab_view_member *end = all->members + all->member_count;

	table->members = table->members ? table->members + table->member_count : all->members;
	if (table->members == end)
		return false;
	table->member_count = 1;
	while (table->members + table->member_count < end &&
	       !compare_tables(table->members, table->members + table->member_count))
		table->member_count++;
	return true;
}

int regtab_read(struct regtab_view *all)
{
	int err;

	*all = (struct regtab_view){ 0 };
	err = regtab_each(note_process, all);
	if (err)
		regtab_free(all);
	else if (all->member_count)
		qsort(all->members, all->member_count, sizeof(*all->members), compare_members);
	return err;
}

void regtab_free(struct regtab_view *all)
{
	for (unsigned i = 0; i < all->member_count; i++)
		free(all->members[i].registrations);
	free(all->members);
	*all = (struct regtab_view){ 0 };
}
