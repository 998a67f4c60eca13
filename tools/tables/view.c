/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Registration tables as people see them.
 *
 * A table is read into a private copy, never mapped: whatever happens to the file meanwhile, it cannot hurt the reader.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <compat/regtab/tab.h>

#include "view.h"

#define QPS_MAX	(1u << 20)	/* more than any adapter has: a table with more is forged */

/* ---- reading ---- */

/* A table whose pages are a copy, so that the code that reads a real table reads it, too. */
static int read_table(struct found_table *found, struct regtab *copy)
{
	struct table_header header;
	size_t size;
	int error = pread(found->file.own.fd, &header, sizeof(header), 0) == sizeof(header) ? 0 : -EPERM;

	found->reason = "it cannot be read";
	if (!error)
		error = regtab_header_check(&header, NULL, &found->reason);
	if (error)
		return error;
	found->reason = "it is damaged";
	size = (size_t)header.pages * REGTAB_PAGE;
	if (!header.pages || header.pages > PAGES_MAX || found->st.st_size < (off_t)size)
		return -EPERM;
	copy->header = malloc(size);
	if (!copy->header)
		return -ENOMEM;
	if (pread(found->file.own.fd, copy->header, size, 0) != (ssize_t)size)
		return -EPERM;
	copy->seen = header.pages;
	return 0;
}

/* A sound table has each page in one place only. A forged one could use a few pages again and again, for millions of QPs. */
static bool claim_page(uint8_t *claimed, unsigned page)
{
	bool first = !page || (page < PAGES_MAX && !claimed[page]);

	if (first && page)
		claimed[page] = 1;
	return first;
}

static int check_pages(struct regtab *copy)
{
	uint8_t *claimed = calloc(PAGES_MAX, 1);
	bool honest = claimed;

	for (unsigned i = 0; i < REGTAB_MEMBERS_MAX && honest; i++) {
		const struct member_row *row = regtab_row(copy, i);

		honest = claim_page(claimed, copy->header->rows[i]);
		for (unsigned n = 0; row && n < ROW_MAPS * RANGES && honest; n++)
			honest = claim_page(claimed, row->maps[n / RANGES][n % RANGES]);
	}
	free(claimed);
	return honest ? 0 : -EPERM;
}

static bool is_self(const struct regtab_view_member *member)
{
	return !member->foreign && member->pid == (uint32_t)getpid();
}

static int view_members(const struct found_table *found, struct regtab *copy, struct regtab_view *view)
{
	struct stat st;
	uint64_t own_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;

	view->members = calloc(REGTAB_MEMBERS_MAX, sizeof(*view->members));
	if (!view->members)
		return -ENOMEM;
	for (int i = 0; (i = regtab_next_alive(copy, (unsigned)i)) >= 0; i++) {
		const struct member_row *row = regtab_row(copy, (unsigned)i);
		struct regtab_view_member *member = &view->members[view->member_count];

		if (!row)
			continue;
		*member = (struct regtab_view_member){ .index = (unsigned)i, .pid = row->pid, .since = row->since,
			.pid_namespace = row->pid_namespace };
		memcpy(member->command, row->command, sizeof(row->command));
		memcpy(member->label, row->label, sizeof(row->label));
		member->foreign = own_namespace && row->pid_namespace && row->pid_namespace != own_namespace;
		member->live = regtab_lock_holder(found->file.own.fd, LOCK_MEMBER(i)) == F_WRLCK ||
			       (found->own && is_self(member));
		view->member_count++;
	}
	return 0;
}

/* ---- QPs ---- */

static struct regtab_view_qp view_qp(struct regtab *copy, const struct regtab_view *view, uint32_t qp_num)
{
	struct regtab_view_qp qp = { .qp_num = qp_num, .creator = -1 };
	bool owned = false, owner_lives = false, anybody_lives = false;

	for (unsigned i = 0; i < view->member_count; i++) {
		unsigned member = view->members[i].index;
		bool registered = regtab_row_has(copy, member, ROW_REGISTERED, qp_num);

		qp.registrants += registered;
		anybody_lives |= registered && view->members[i].live;
		owned |= regtab_row_has(copy, member, ROW_OWNED, qp_num);
		if (!regtab_row_has(copy, member, ROW_CREATED, qp_num))
			continue;
		qp.creator = (int)i;
		owner_lives = view->members[i].live;
	}
	if (owned)
		qp.state = !owner_lives ? REGTAB_QP_LOST : anybody_lives ? REGTAB_QP_OWNER : REGTAB_QP_RETIRED;
	else
		qp.state = anybody_lives ? REGTAB_QP_KERNEL : REGTAB_QP_LOST;
	return qp;
}

/* The next number that is registered with, or kept by an owner; 0: none. */
static uint32_t next_qp(struct regtab *copy, const struct regtab_view *view, uint32_t from)
{
	uint32_t next = 0;

	for (unsigned i = 0; i < view->member_count; i++) {
		for (int map = 0; map < ROW_MAPS - 1; map++) {
			uint32_t qp_num = regtab_row_next(copy, view->members[i].index, (enum row_map)map, from);

			if (qp_num && (!next || qp_num < next))
				next = qp_num;
		}
	}
	return next;
}

static int view_qps(struct regtab *copy, struct regtab_view *view)
{
	unsigned room = 0;

	for (uint32_t qp_num = 1; (qp_num = next_qp(copy, view, qp_num)); qp_num++) {
		if (view->qp_count == room) {
			struct regtab_view_qp *more = realloc(view->qps, (room = 2 * room + 64) * sizeof(*more));

			if (!more)
				return -ENOMEM;
			view->qps = more;
		}
		if (view->qp_count == QPS_MAX)
			return -EPERM;
		view->qps[view->qp_count++] = view_qp(copy, view, qp_num);
	}
	return 0;
}

bool regtab_view_registered(const struct regtab_view *view, unsigned qp, unsigned member)
{
	return regtab_row_has(view->snapshot, view->members[member].index, ROW_REGISTERED, view->qps[qp].qp_num);
}

/* ---- a view ---- */

struct listing {
	int (*visit)(void *context, const struct regtab_view *view);
	void *context;
};

static void fill_view(struct found_table *found, int error, struct regtab *copy, struct regtab_view *view)
{
	if (!error) {
		bool used = found->own || regtab_lock_holder(found->file.own.fd, LOCK_PRESENCE) != F_UNLCK;

		view->condition = used ? REGTAB_IN_USE : REGTAB_DEAD;
		error = read_table(found, copy);
	}
	if (!error)
		error = check_pages(copy);
	if (!error)
		error = view_members(found, copy, view);
	if (!error)
		error = view_qps(copy, view);
	if (error == -EPROTO && view->condition == REGTAB_DEAD)
		found->reason = "it was left by another version of this library, or before the last boot";
	if (error) {
		view->condition = REGTAB_REFUSED;
		view->member_count = view->qp_count = 0;
		regtab_why(&view->reason, error, found->file.path, "%s", found->reason);
		return;
	}
	view->key = copy->header->key;
	view->key.device[sizeof(view->key.device) - 1] = 0;
	view->created = copy->header->created;
}

static int list_file(void *context, struct found_table *found, int error)
{
	const struct listing *listing = context;
	struct regtab copy = { .file.own.fd = -1 };	/* which has no more pages than were read */
	struct regtab_view view = { .path = found->file.path, .snapshot = &copy, .uid = (uint32_t)found->st.st_uid,
		.bytes = (uint64_t)found->st.st_blocks * 512 };
	int result = 0;

	if (error == -ENOENT || error == -ESTALE)
		return 0;	/* a file that went meanwhile is not there */
	fill_view(found, error, &copy, &view);
	result = listing->visit(listing->context, &view);
	free(copy.header);
	free(view.members);
	free(view.qps);
	return result;
}

int regtab_list(const char *dir, int (*visit)(void *context, const struct regtab_view *view), void *context)
{
	return regtab_each(dir, O_RDONLY, list_file, &(struct listing){ visit, context });
}
