/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads registration tables. They are not mapped: one that shrinks would crash the reader. */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QPS_MAX		(1u << 20)	/* more than any adapter has; a file with more is refused */

struct registration {
	uint32_t qp_num;
	bool created;
};

/* ---- one file ---- */

/* The next page with data, or -1. Without SEEK_DATA it is the page at @at. */
static off_t next_page(int fd, off_t at)
{
	off_t data = lseek(fd, at, SEEK_DATA);

	return data >= 0 ? data - data % REGTAB_PAGE : errno == ENXIO ? -1 : at;
}

/* Appends the registrations in the page at @at. 0 or -errno. */
static int read_page(int fd, off_t at, struct regtab_view_member *member)
{
	uint32_t qp_num = (uint32_t)(at / REGTAB_PAGE - 1) * REGTAB_PAGE_QPS;
	uint32_t words[REGTAB_PAGE / 4] = { 0 };
	struct registration *larger = reallocarray(
		member->registrations, member->registration_count + REGTAB_PAGE_QPS,
		sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	member->registrations = larger;
	if (pread(fd, words, sizeof(words), at) < 0)
		return -EIO;
	for (unsigned i = 0; i < REGTAB_PAGE_QPS; i++, qp_num++) {
		unsigned bits = words[i / REGTAB_WORD_QPS] >> 2 * (i % REGTAB_WORD_QPS);

		if (bits & REGTAB_REGISTERED)
			larger[member->registration_count++] =
				(struct registration){ qp_num, bits & REGTAB_CREATED };
	}
	return 0;
}

static int read_map(struct regtab_found *found, struct regtab_view_member *member)
{
	const off_t end = (off_t)(REGTAB_MAP_PAGES + 1) * REGTAB_PAGE;
	off_t at = REGTAB_PAGE;
	int err;

	for (; (at = next_page(found->fd, at)) >= 0 && at < end; at += REGTAB_PAGE) {
		found->reason = "it cannot be read";
		err = read_page(found->fd, at, member);
		if (err)
			return err;
		found->reason = "it is damaged: it claims more QPs than an adapter has";
		if (member->registration_count > QPS_MAX)
			return -EPERM;
	}
	return 0;
}

/* -ENOENT: another process is creating it, or died while it did. */
static int read_header(struct regtab_found *found, struct regtab_header *header)
{
	ssize_t length = pread(found->fd, header, sizeof(*header), 0);

	found->reason = "it cannot be read";
	if (length < 0)
		return -errno;
	if (!length || (length == sizeof(*header) && !header->magic))
		return -ENOENT;
	found->reason = "it is not a registration table";
	if (length < (ssize_t)sizeof(header->magic) || header->magic != REGTAB_MAGIC)
		return -EPERM;
	found->reason = "it is of another version of this library";
	if (length >= 12 && header->version != REGTAB_VERSION)
		return -EPROTO;
	found->reason = "it is damaged: too short";
	if (length < (ssize_t)sizeof(*header) || header->header_size != sizeof(*header))
		return -EPERM;
	return 0;
}

static bool is_locked(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

static bool is_foreign(const struct regtab_header *header)
{
	struct stat own;

	return header->pid_namespace && !stat("/proc/self/ns/pid", &own) &&
	       header->pid_namespace != own.st_ino;
}

static int read_member(struct regtab_found *found, struct regtab_view_member *member)
{
	struct regtab_header header = { 0 };
	int err = read_header(found, &header);

	if (err)
		return err;
	member->key = header.key;
	member->key.device[sizeof(member->key.device) - 1] = 0;
	member->pid = header.pid;
	member->since = header.since;
	memcpy(member->command, header.command, sizeof(header.command));
	member->live = is_locked(found->fd);
	member->foreign = is_foreign(&header);
	return read_map(found, member);
}

/* ---- the directory ---- */

static int note_file(void *context, struct regtab_found *found, int err)
{
	struct regtab_view *all = context;
	struct regtab_view_member *member = reallocarray(all->members, all->member_count + 1,
							 sizeof(*member));

	if (!member)
		return -ENOMEM;
	all->members = member;
	member += all->member_count;
	*member = (struct regtab_view_member){ .uid = (uint32_t)found->st.st_uid };
	snprintf(member->path, sizeof(member->path), "%s", found->path);
	if (!err)
		err = read_member(found, member);
	if (err == -ENOENT)
		return 0;
	all->member_count++;
	if (!err || err == -ENOMEM)
		return err;
	member->live = false;
	member->registration_count = 0;
	return asprintf(&member->reason, "registration table %s: %s", found->path,
			found->reason) < 0 ? -ENOMEM : 0;
}

int regtab_each(const char *dir, int flags,
		int (*visit)(void *context, struct regtab_found *found, int err), void *context)
{
	struct dirent **names;
	int result = 0, count;

	if (dir[0] != '/')	/* the library refuses it, too */
		return -EINVAL;
	count = scandir(dir, &names, regtab_has_name, alphasort);
	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		struct regtab_found found = { .fd = -1 };
		int err = -ENOENT;

		snprintf(found.path, sizeof(found.path), "%s/%s", dir, names[i]->d_name);
		free(names[i]);
		if (!result)
			err = regtab_open_found(&found, flags);
		if (err != -ENOENT)
			result = visit(context, &found, err);
		if (!err)
			close(found.fd);
	}
	free(names);
	return result;
}

/* ---- QPs ---- */

/* The member's first registration from this number on; NULL: none. */
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
		qp->live |= member->live;
		if (found->created && (!qp->creator || member->live))
			qp->creator = member;
	}
	return qp->registrants;
}

/* ---- tables ---- */

/* Refused files come last. Each is a table of its own. */
static int compare_tables(const struct regtab_view_member *a, const struct regtab_view_member *b)
{
	if (a->reason || b->reason)
		return a->reason && b->reason ? strcmp(a->path, b->path) : a->reason ? 1 : -1;
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
	return order ? order : strcmp(a->path, b->path);
}

/* @all: the members of all tables, in order. */
static int list_tables(const struct regtab_view *all,
		       int (*visit)(void *context, const struct regtab_view *view), void *context)
{
	struct regtab_view view = { .members = all->members };
	const struct regtab_view_member *end = all->members + all->member_count;
	int result = 0;

	for (; view.members < end && !result; view.members += view.member_count) {
		view.member_count = 1;
		while (view.members + view.member_count < end &&
		       !compare_tables(view.members, view.members + view.member_count))
			view.member_count++;
		result = visit(context, &view);
	}
	return result;
}

int regtab_list(const char *dir, int (*visit)(void *context, const struct regtab_view *view),
		void *context)
{
	struct regtab_view all = { 0 };
	int result = regtab_each(dir, O_RDONLY, note_file, &all);

	if (all.member_count)
		qsort(all.members, all.member_count, sizeof(*all.members), compare_members);
	if (!result)
		result = list_tables(&all, visit, context);
	for (unsigned i = 0; i < all.member_count; i++) {
		free(all.members[i].registrations);
		free(all.members[i].reason);
	}
	free(all.members);
	return result;
}
