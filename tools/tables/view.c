/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The registration tables of a directory as people see them.
 *
 * Files are read into private memory, never mapped: a file that changes or shrinks meanwhile cannot
 * hurt the reader.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "view.h"

#define QPS_MAX		(1u << 20)	/* more than any adapter has; a file with more is refused */
#define PAGE_WORDS	(REGTAB_PAGE / 4)
#define REGISTERED_MASK	0x55555555u	/* of all QP numbers in one word */

/* ---- one file ---- */

struct refusal {
	char path[512];
	char reason[640];
	uint32_t uid;
};

struct directory {
	struct regtab_view_member *members;
	unsigned member_count;
	struct refusal *refusals;
	unsigned refusal_count;
	uint64_t pid_namespace;		/* of the caller */
};

static void member_free(struct regtab_view_member *member)
{
	for (unsigned i = 0; member->pages && i < REGTAB_MAP_PAGES; i++)
		free(member->pages[i]);
	free(member->pages);
}

/* Without SEEK_DATA every page is looked at. */
static off_t next_data(int fd, off_t at)
{
	off_t data = lseek(fd, at, SEEK_DATA);

	return data >= 0 || errno == ENXIO ? data : at;
}

/* The number of QPs registered in the page, or -errno. */
static int read_page(int fd, unsigned page, uint32_t **words)
{
	int registered = 0;

	*words = calloc(PAGE_WORDS, sizeof(**words));
	if (!*words)
		return -ENOMEM;
	if (pread(fd, *words, REGTAB_PAGE, (off_t)(page + 1) * REGTAB_PAGE) < 0)
		return -EIO;
	for (unsigned i = 0; i < PAGE_WORDS; i++)
		registered += __builtin_popcount((*words)[i] & REGISTERED_MASK);
	return registered;
}

static int read_map(struct regtab_found *found, struct regtab_view_member *member)
{
	const off_t end = (off_t)(REGTAB_MAP_PAGES + 1) * REGTAB_PAGE;
	int registered = 0, more;

	member->pages = calloc(REGTAB_MAP_PAGES, sizeof(*member->pages));
	if (!member->pages)
		return -ENOMEM;
	for (off_t at = next_data(found->fd, REGTAB_PAGE);
	     at >= 0 && at < end && at < found->st.st_size;
	     at = next_data(found->fd, at - at % REGTAB_PAGE + REGTAB_PAGE)) {
		unsigned page = (unsigned)(at / REGTAB_PAGE) - 1;

		more = read_page(found->fd, page, &member->pages[page]);
		if (more < 0)
			return more;
		registered += more;
		if (registered > (int)QPS_MAX) {
			found->reason = "it is damaged: it claims more QPs than an adapter has";
			return -EPERM;
		}
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

static int read_member(const struct directory *directory, struct regtab_found *found,
		       struct regtab_view_member *member)
{
	struct regtab_header header = { 0 };
	int err = read_header(found, &header);

	if (err)
		return err;
	*member = (struct regtab_view_member){ .uid = (uint32_t)found->st.st_uid, .pid = header.pid,
		.bytes = (uint64_t)found->st.st_blocks * 512, .key = header.key,
		.since = header.since,
		.pid_namespace = header.pid_namespace, .live = is_locked(found->fd) };
	member->key.device[sizeof(member->key.device) - 1] = 0;
	snprintf(member->path, sizeof(member->path), "%s", found->path);
	memcpy(member->command, header.command, sizeof(header.command));
	memcpy(member->label, header.label, sizeof(header.label));
	member->foreign = directory->pid_namespace && member->pid_namespace &&
			  member->pid_namespace != directory->pid_namespace;
	return read_map(found, member);
}

/* ---- the directory ---- */

/* NULL: no memory. */
static void *grow(void *array, unsigned count, size_t size)
{
	return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

static int refuse_file(struct directory *directory, const struct regtab_found *found)
{
	struct refusal *refusals = grow(directory->refusals, directory->refusal_count,
					sizeof(*refusals)),
		       *refusal;

	if (!refusals)
		return -ENOMEM;
	directory->refusals = refusals;
	refusal = &refusals[directory->refusal_count++];
	refusal->uid = (uint32_t)found->st.st_uid;
	snprintf(refusal->path, sizeof(refusal->path), "%s", found->path);
	snprintf(refusal->reason, sizeof(refusal->reason), "registration table %.500s: %.100s",
		 found->path, found->reason);
	return 0;
}

static int note_file(void *context, struct regtab_found *found, int err)
{
	struct directory *directory = context;
	struct regtab_view_member *members = grow(directory->members, directory->member_count,
						  sizeof(*members)),
				  *member;

	if (!members)
		return -ENOMEM;
	directory->members = members;
	member = &members[directory->member_count];
	member->pages = NULL;
	if (!err)
		err = read_member(directory, found, member);
	if (!err)
		directory->member_count++;
	else
		member_free(member);
	if (err == -ENOMEM || err == -ENOENT || !err)
		return err == -ENOENT ? 0 : err;
	return refuse_file(directory, found);
}

static int compare_tables(const struct regtab_view_member *a, const struct regtab_view_member *b)
{
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

/* ---- QPs ---- */

static unsigned bits_of(const struct regtab_view_member *member, uint32_t qp_num)
{
	const uint32_t *page = member->pages[qp_num / REGTAB_PAGE_QPS];

	return page ? page[qp_num / REGTAB_WORD_QPS % PAGE_WORDS] >>
				       2 * (qp_num % REGTAB_WORD_QPS) &
			       3
		    : 0;
}

bool regtab_view_registered(const struct regtab_view *view, unsigned qp, unsigned member)
{
	return bits_of(&view->members[member], view->qps[qp].qp_num) & REGTAB_REGISTERED;
}

static struct regtab_view_qp view_qp(const struct regtab_view *view, uint32_t qp_num)
{
	struct regtab_view_qp qp = { .qp_num = qp_num, .creator = -1 };

	for (unsigned i = 0; i < view->member_count; i++) {
		unsigned bits = bits_of(&view->members[i], qp_num);

		if (!(bits & REGTAB_REGISTERED))
			continue;
		qp.registrants++;
		if (bits & REGTAB_CREATED && (qp.creator < 0 || view->members[i].live))
			qp.creator = (int)i;
		qp.live |= view->members[i].live;
	}
	return qp;
}

/* Whether any member is registered with a QP of this word of the map. */
static uint32_t any_registered(const struct regtab_view *view, unsigned word)
{
	uint32_t any = 0;

	for (unsigned i = 0; i < view->member_count; i++)
		if (view->members[i].pages[word / PAGE_WORDS])
			any |= view->members[i].pages[word / PAGE_WORDS][word % PAGE_WORDS];
	return any & REGISTERED_MASK;
}

static bool has_page(const struct regtab_view *view, unsigned page)
{
	for (unsigned i = 0; i < view->member_count; i++)
		if (view->members[i].pages[page])
			return true;
	return false;
}

static int view_word(struct regtab_view *view, unsigned word)
{
	for (uint32_t any = any_registered(view, word); any; any &= any - 1) {
		struct regtab_view_qp *qps = grow(view->qps, view->qp_count, sizeof(*qps));

		if (!qps)
			return -ENOMEM;
		view->qps = qps;
		qps[view->qp_count++] =
			view_qp(view, word * REGTAB_WORD_QPS + (unsigned)__builtin_ctz(any) / 2);
	}
	return 0;
}

static int view_qps(struct regtab_view *view)
{
	int err = 0;

	for (unsigned page = 0; page < REGTAB_MAP_PAGES; page++)
		for (unsigned i = 0; i < PAGE_WORDS && !err && has_page(view, page); i++)
			err = view_word(view, page * PAGE_WORDS + i);
	return err;
}

/* ---- views ---- */

typedef int (*visit_fn)(void *context, const struct regtab_view *view);

static int list_table(struct regtab_view_member *members, unsigned count, visit_fn visit,
		      void *context)
{
	struct regtab_view view = { .condition = REGTAB_DEAD, .path = members->path,
				    .key = members->key, .uid = members->uid,
		.members = members, .member_count = count };
	int result = view_qps(&view);

	for (unsigned i = 0; i < count; i++)
		if (members[i].live)
			view.condition = REGTAB_IN_USE;
	if (!result)
		result = visit(context, &view);
	free(view.qps);
	return result;
}

static int list_tables(const struct directory *directory, visit_fn visit, void *context)
{
	struct regtab_view_member *members = directory->members;
	unsigned first = 0, end;
	int result = 0;

	for (; first < directory->member_count && !result; first = end) {
		for (end = first + 1; end < directory->member_count &&
				      !compare_tables(&members[first], &members[end]);
		     end++)
			;
		result = list_table(&members[first], end - first, visit, context);
	}
	return result;
}

static int list_refusals(const struct directory *directory, visit_fn visit, void *context)
{
	int result = 0;

	for (unsigned i = 0; i < directory->refusal_count && !result; i++) {
		const struct refusal *refusal = &directory->refusals[i];

		result = visit(context, &(struct regtab_view){ .condition = REGTAB_REFUSED,
							       .path = refusal->path,
							       .reason = refusal->reason,
							       .uid = refusal->uid });
	}
	return result;
}

int regtab_list(const char *dir, visit_fn visit, void *context)
{
	struct directory directory = { 0 };
	struct stat st;
	int result;

	directory.pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	result = regtab_each(dir, O_RDONLY, note_file, &directory);
	if (directory.member_count)
		qsort(directory.members, directory.member_count, sizeof(*directory.members),
		      compare_members);
	if (!result)
		result = list_tables(&directory, visit, context);
	if (!result)
		result = list_refusals(&directory, visit, context);
	for (unsigned i = 0; i < directory.member_count; i++)
		member_free(&directory.members[i]);
	free(directory.members);
	free(directory.refusals);
	return result;
}
