/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tables as people see them, and removing dead ones.
 *
 * A table is read into a private copy, never mapped: whatever happens to the file meanwhile, it cannot hurt the reader.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file.h"
#include "lock.h"
#include "registry.h"
#include "tab.h"

struct snapshot {
	struct table_header header;
	struct shape shape;
	word64 *segments[SEGMENTS_MAX];
};

/*
 * A file of the directory, open for looking. No other thread opens a table meanwhile: of one file, closing this descriptor
 * would release the locks that it had just got, and a lock that we take would not keep it out.
 */
struct found {
	struct registry *registry;	/* locked while the file is open */
	int fd;
	bool own;		/* this very process has it open as a table: do not close it, that would release its locks */
	struct stat st;
};

/* ---- finding files ---- */

static int is_table_name(const struct dirent *entry)
{
	return !strncmp(entry->d_name, REGTAB_NAME_PREFIX, strlen(REGTAB_NAME_PREFIX));
}

/* Looked at by name first, so that no device or pipe is opened. 0 or -errno and a phrase. Registry locked. */
static int open_named(int dir_fd, const char *name, int flags, struct found *found, const char **reason)
{
	struct stat st;
	int error;

	*reason = "it is gone";
	if (fstatat(dir_fd, name, &found->st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	st = found->st;
	if (!geteuid())
		st.st_uid = 0;		/* root may look at, and clean up, everybody's */
	error = regtab_file_checks(&st, reason);
	if (error)
		return error;
	found->fd = regtab_file_of_process(found->registry, st.st_dev, st.st_ino);
	found->own = found->fd >= 0;
	if (found->own)
		return 0;
	*reason = "it cannot be opened";
	found->fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (found->fd < 0)
		return -errno;
	if (!fstat(found->fd, &st) && st.st_dev == found->st.st_dev && st.st_ino == found->st.st_ino)
		return 0;
	close(found->fd);
	*reason = "it was replaced meanwhile";
	return -EAGAIN;
}

static int open_found(int dir_fd, const char *name, int flags, struct found *found, const char **reason)
{
	int error;

	*reason = "out of memory";
	found->registry = regtab_registry_lock();
	if (!found->registry)
		return -ENOMEM;
	error = open_named(dir_fd, name, flags, found, reason);
	if (error)
		regtab_registry_unlock(found->registry);
	return error;
}

static void close_found(const struct found *found)
{
	if (!found->own)
		close(found->fd);
	regtab_registry_unlock(found->registry);
}

static bool in_use(const struct found *found)
{
	return found->own || regtab_lock_holder(found->fd, LOCK_PRESENCE) != F_UNLCK;
}

/* ---- reading ---- */

static int read_range(int fd, void *to, size_t size, uint32_t offset)
{
	return pread(fd, to, size, (off_t)offset) == (ssize_t)size ? 0 : -EPERM;
}

static int read_segments(int fd, struct snapshot *snapshot)
{
	for (unsigned s = 0; s < snapshot->shape.segments; s++) {
		size_t size = (size_t)segment_slots(s) * 8 * (1 + snapshot->shape.planes);

		snapshot->segments[s] = malloc(size);
		if (!snapshot->segments[s])
			return -ENOMEM;
		if (read_range(fd, snapshot->segments[s], size, segment_offset(s)))
			return -EPERM;
	}
	return 0;
}

static word64 snapshot_word(const struct snapshot *snapshot, unsigned segment, uint32_t index, int plane)
{
	return snapshot->segments[segment][(size_t)(plane + 1) * segment_slots(segment) + index];
}

static bool is_self(const struct regtab_view_member *member)
{
	return !member->foreign && member->pid == (uint32_t)getpid();
}

static int read_members(const struct found *found, struct regtab_view *view, const struct snapshot *snapshot)
{
	unsigned count = snapshot->shape.planes * PLANE_MEMBERS;
	struct member_record *records = calloc(count, sizeof(*records));
	struct stat st;
	uint64_t own_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	int error = records ? read_range(found->fd, records, count * sizeof(*records), MEMBERS_OFFSET) : -ENOMEM;

	view->members = error ? NULL : calloc(count, sizeof(*view->members));
	if (!error && !view->members)
		error = -ENOMEM;
	for (unsigned i = 0; i < count && !error; i++) {
		const struct member_record *record = &records[i];
		struct regtab_view_member *member = &view->members[view->member_count];

		if (!(snapshot->header.alive[i / PLANE_MEMBERS] & member_bit(i)))
			continue;
		*member = (struct regtab_view_member){ .index = i, .pid = record->pid, .start_time = record->start_time,
			.pid_namespace = record->pid_namespace, .since = record->since };
		memcpy(member->command, record->command, sizeof(record->command));
		memcpy(member->label, record->label, sizeof(record->label));
		member->foreign = own_namespace && record->pid_namespace && record->pid_namespace != own_namespace;
		member->live = regtab_lock_holder(found->fd, LOCK_MEMBER(i)) == F_WRLCK ||
			       (found->own && is_self(member));
		view->member_count++;
	}
	free(records);
	return error;
}

/* ---- QPs ---- */

static enum regtab_qp_state state_of(uint64_t key)
{
	switch (key_state(key)) {
	case SLOT_KERNEL:
		return REGTAB_QP_KERNEL;
	case SLOT_OWNED:
		return REGTAB_QP_OWNER;
	case SLOT_RETIRED:
		return REGTAB_QP_RETIRED;
	default:
		return REGTAB_QP_LOST;
	}
}

static int member_position(const struct regtab_view *view, int index)
{
	for (unsigned i = 0; i < view->member_count; i++)
		if ((int)view->members[i].index == index)
			return (int)i;
	return -1;
}

static void view_qp(struct regtab_view *view, const struct snapshot *snapshot, unsigned segment, uint32_t index)
{
	uint64_t key = snapshot_word(snapshot, segment, index, -1);
	struct regtab_view_qp *qp = &view->qps[view->qp_count++];

	*qp = (struct regtab_view_qp){ .qp_num = key_qp_num(key), .state = state_of(key),
		.creator = member_position(view, key_owner(key)), .slot = (size_t)segment << 24 | index };
	for (unsigned p = 0; p < snapshot->shape.planes; p++)
		qp->registrants += (unsigned)__builtin_popcountll(snapshot_word(snapshot, segment, index, (int)p) &
								  snapshot->header.alive[p]);
}

static int compare_qps(const void *a, const void *b)
{
	const struct regtab_view_qp *x = a, *y = b;

	return x->qp_num < y->qp_num ? -1 : x->qp_num > y->qp_num;
}

/* view->qps NULL: only count. */
static unsigned walk_qps(struct regtab_view *view, const struct snapshot *snapshot)
{
	unsigned count = 0;

	for (unsigned s = 0; s < snapshot->shape.segments; s++) {
		for (uint32_t i = 0; i < segment_slots(s); i++) {
			if (!key_is_entry(snapshot_word(snapshot, s, i, -1)))
				continue;
			if (view->qps)
				view_qp(view, snapshot, s, i);
			count++;
		}
	}
	return count;
}

static int read_qps(struct regtab_view *view, const struct snapshot *snapshot)
{
	unsigned count = walk_qps(view, snapshot);

	view->qps = calloc(count ? count : 1, sizeof(*view->qps));
	if (!view->qps)
		return -ENOMEM;
	walk_qps(view, snapshot);
	qsort(view->qps, view->qp_count, sizeof(*view->qps), compare_qps);
	return 0;
}

bool regtab_view_registered(const struct regtab_view *view, unsigned qp, unsigned member)
{
	const struct snapshot *snapshot = view->snapshot;
	size_t slot = view->qps[qp].slot;
	unsigned index = view->members[member].index;

	return snapshot_word(snapshot, (unsigned)(slot >> 24), (uint32_t)(slot & 0xffffff),
			     (int)(index / PLANE_MEMBERS)) & member_bit(index);
}

/* ---- a view ---- */

static int read_table(const struct found *found, struct regtab_view *view, struct snapshot *snapshot,
		      const char **reason)
{
	int error;

	*reason = "it cannot be read";
	error = read_range(found->fd, &snapshot->header, sizeof(snapshot->header), HEADER_OFFSET);
	if (!error)
		error = regtab_header_check(&snapshot->header, NULL, reason);
	if (error)
		return error;
	*reason = "it is damaged";
	snapshot->shape = shape_of(snapshot->header.shape);
	if (!snapshot->shape.segments || !snapshot->shape.planes ||
	    found->st.st_size < (off_t)shape_bytes(snapshot->shape))
		return -EPERM;
	error = read_segments(found->fd, snapshot);
	if (!error)
		error = read_members(found, view, snapshot);
	if (!error)
		error = read_qps(view, snapshot);
	view->key = snapshot->header.key;
	view->key.device[sizeof(view->key.device) - 1] = 0;
	view->created = snapshot->header.created;
	return error;
}

static int make_view(const char *dir, int dir_fd, const char *name, struct regtab_view *view,
		     struct snapshot *snapshot)
{
	struct found found = { .fd = -1 };
	const char *reason;
	int error = open_found(dir_fd, name, O_RDONLY, &found, &reason);

	view->uid = (uint32_t)found.st.st_uid;
	view->bytes = (uint64_t)found.st.st_blocks * 512;
	view->snapshot = snapshot;
	if (!error) {
		view->condition = in_use(&found) ? REGTAB_IN_USE : REGTAB_DEAD;
		error = read_table(&found, view, snapshot, &reason);
		close_found(&found);
	}
	if (error == -EPROTO && view->condition == REGTAB_DEAD)
		reason = "it was left by another version of this library, or before the last boot";
	if (error) {
		view->condition = REGTAB_REFUSED;
		view->member_count = view->qp_count = 0;
		regtab_why(&view->reason, error, dir, name, "%s", reason);
	}
	return error == -ENOENT || error == -ESTALE ? error : 0;
}

static void free_view(struct regtab_view *view, struct snapshot *snapshot)
{
	for (unsigned s = 0; s < SEGMENTS_MAX; s++)
		free(snapshot->segments[s]);
	free(view->members);
	free(view->qps);
}

static int visit_file(const char *dir, int dir_fd, const char *name,
		      int (*visit)(void *context, const struct regtab_view *view), void *context)
{
	struct snapshot snapshot = { .shape = { 0, 0 } };
	struct regtab_view view = { .path = NULL };
	char *path;
	int result = 0;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	view.path = path;
	if (!make_view(dir, dir_fd, name, &view, &snapshot))	/* a file that went meanwhile is not there */
		result = visit(context, &view);
	free_view(&view, &snapshot);
	free(path);
	return result;
}

static int scan(const char *dir, struct dirent ***names, int *dir_fd)
{
	int count;

	*dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir_fd < 0)
		return -errno;
	count = scandirat(*dir_fd, ".", names, is_table_name, alphasort);
	if (count < 0) {
		count = -errno;
		close(*dir_fd);
	}
	return count;
}

int regtab_list(const char *dir, int (*visit)(void *context, const struct regtab_view *view), void *context)
{
	struct dirent **names;
	int dir_fd, result = 0, count = scan(dir, &names, &dir_fd);

	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		if (!result)
			result = visit_file(dir, dir_fd, names[i]->d_name, visit, context);
		free(names[i]);
	}
	free(names);
	close(dir_fd);
	return result;
}

/* ---- removing the dead ---- */

static enum regtab_verdict collect(int dir_fd, const char *name, bool dry_run, const char **reason)
{
	struct found found = { .fd = -1 };
	struct table_header header;
	enum regtab_verdict verdict = REGTAB_LEFT_ALONE;

	if (open_found(dir_fd, name, O_RDWR, &found, reason))
		return REGTAB_LEFT_ALONE;
	*reason = "it is not a registration table";
	if (read_range(found.fd, &header, sizeof(header), HEADER_OFFSET) || !regtab_header_is_table(&header))
		goto out;
	*reason = "a process is using it";
	verdict = REGTAB_KEPT;
	if (found.own || regtab_lock(found.fd, F_WRLCK, LOCK_PRESENCE))
		goto out;
	/* The write lock proves that no process has it, and none gets it before we close it. */
	*reason = "no process is using it";
	verdict = REGTAB_REMOVED;
	if (!dry_run && regtab_file_unlink(dir_fd, name, found.fd)) {
		*reason = "it cannot be removed";
		verdict = REGTAB_LEFT_ALONE;
	}
out:
	close_found(&found);
	return verdict;
}

int regtab_gc(const char *dir, bool dry_run,
	      void (*visit)(void *context, const char *path, enum regtab_verdict verdict, const char *reason),
	      void *context)
{
	struct dirent **names;
	int dir_fd, removed = 0, count = scan(dir, &names, &dir_fd);

	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		const char *reason;
		enum regtab_verdict verdict = collect(dir_fd, names[i]->d_name, dry_run, &reason);
		char *path = NULL;

		removed += verdict == REGTAB_REMOVED;
		if (visit && asprintf(&path, "%s/%s", dir, names[i]->d_name) >= 0)
			visit(context, path, verdict, reason);
		free(path);
		free(names[i]);
	}
	free(names);
	close(dir_fd);
	return removed;
}
