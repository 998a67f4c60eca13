/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Finds the tables of all processes as /proc/PID/fd/N, reads them, and adds them up.
 *
 * A process may have any file under the table's name. It may exchange the file meanwhile, and the
 * file may be a FIFO, a device, or on a file system that does not answer. So a file is held by an
 * O_PATH descriptor, which opens nothing, and is opened only if it is a memory file. A table counts
 * only for the process that wrote it: a forked child has the descriptor of its parent.
 */
#include "view.h"
#include "own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW) /* F_SEAL_SEAL is not needed to read */

struct registration {
	uint32_t qp_num;
	bool created;
};

struct walk {
	struct regtab_view *all;
	dev_t memory;		/* the kernel's file system of memory files */
};

/* ---- one file ---- */

/*
 * statx() asks for what the kernel has cached, because the file may be on a slow file system, or on
 * one that another user's program serves. Some containers forbid statx(); fstat() serves there.
 */
static bool is_memory_file(const struct walk *walk, int held)
{
	struct statx cached;
	struct stat st;

	if (!statx(held, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &cached))
		return S_ISREG(cached.stx_mode) &&
		       makedev(cached.stx_dev_major, cached.stx_dev_minor) == walk->memory;
	return !fstat(held, &st) && S_ISREG(st.st_mode) && st.st_dev == walk->memory;
}

/* Returns a descriptor to read from, or -errno; -ENOENT: it has gone, or is not a memory file. */
static int open_memory_file(const struct walk *walk, const char *path)
{
	int held = open(path, O_PATH | O_CLOEXEC), fd = -ENOENT;
	char link[32];

	if (held < 0)
		return -errno;
	if (is_memory_file(walk, held)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
		fd = open(link, O_RDONLY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	close(held);
	return fd;
}

/* Returns NULL, or why the file is refused. */
static const char *check_file(int fd, const struct regtab_file *header)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (header->magic != REGTAB_MAGIC)
		return "it is not a registration table";
	if (header->layout != REGTAB_LAYOUT)
		return "it is of another version of this library";
	if (seals < 0 || (seals & SEALS) != SEALS)
		return "it is not sealed";
	if (header->place_count > REGTAB_PLACES_MAX || fstat(fd, &st) ||
	    st.st_size != (off_t)regtab_size(header->place_count))
		return "it is damaged: its size is wrong";
	return NULL;
}

/* Sets *file to a copy to be freed; NULL while its process makes it. Returns NULL, or a reason. */
static const char *read_file(int fd, struct regtab_file **file)
{
	struct regtab_file header = { .magic = 0 };
	const char *reason;
	ssize_t size;

	if (pread(fd, &header, sizeof(header), 0) < 0)
		return "it cannot be read";
	reason = header.magic ? check_file(fd, &header) : NULL;
	if (reason || !header.magic)
		return reason;
	size = (ssize_t)regtab_size(header.place_count);
	*file = malloc((size_t)size);
	if (!*file)
		return "there is no memory to read it";
	if (pread(fd, *file, (size_t)size, 0) != size)
		return "it cannot be read";
	(*file)->place_count = header.place_count;	/* the process may change it meanwhile */
	return NULL;
}

/* ---- members ---- */

static struct regtab_view_member *add_member(struct regtab_view *all,
					     const struct regtab_view_member *process)
{
	struct regtab_view_member *member = reallocarray(all->members, all->member_count + 1,
							 sizeof(*member));

	if (!member)
		return NULL;
	all->members = member;
	member += all->member_count++;
	*member = *process;
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

static int add_process(struct regtab_view *all, const struct regtab_view_member *process,
		       const struct regtab_file *file)
{
	unsigned missing;

	if (!file)
		return add_member(all, process) ? 0 : -ENOMEM;
	missing = file->missing;
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
		member->missing = missing;
		missing = 0;
	}
	return 0;
}

/* ---- one process ---- */

/* Reads a file of /proc/PID. "": it cannot be read. */
static void read_text(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
}

/* Field @place of a line of /proc/PID/status: 1 is the first, -1 the last. 0: there is none. */
static unsigned long number_of(const char *status, const char *line, int place)
{
	const char *at = strstr(status, line);
	unsigned long number = 0;
	char *end;

	for (at = at ? at + strlen(line) : ""; place && *at >= '0' && *at <= '9'; place--) {
		number = strtoul(at, &end, 10);
		at = *end == '\t' ? end + 1 : end;
	}
	return number;
}

/* A child of fork() has its parent's descriptor, but another id or another start. */
static bool wrote(const struct regtab_view_member *process, const struct regtab_file *file)
{
	char stat[32];

	snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)process->pid);
	return file->pid == process->inner_pid &&
	       (!file->start || file->start == regtab_start(stat));
}

/* 0: the file has the name of a table. -ENOENT: it has another name, or has gone. */
static int check_name(const char *path)
{
	static const char name[] = "/memfd:" REGTAB_NAME " (deleted)";
	char target[sizeof(name) + 1];
	ssize_t length = readlink(path, target, sizeof(target));

	if (length < 0)
		return -errno;
	return length == (ssize_t)strlen(name) && !memcmp(target, name, (size_t)length) ? 0
											 : -ENOENT;
}

/* Returns whether the process lives. A zombie with more than one thread does. */
static bool describe(struct regtab_view_member *process)
{
	char status[1 << 16];	/* NSpid stands behind thousands of groups */

	read_text(process->pid, "comm", process->command, sizeof(process->command));
	process->command[strcspn(process->command, "\n")] = 0;
	read_text(process->pid, "status", status, sizeof(status));
	process->uid = (uid_t)number_of(status, "\nUid:\t", 2);
	/* Linux before 4.1 shows no ids of other namespaces. */
	process->inner_pid = (uint32_t)number_of(status, "\nNSpid:\t", -1);
	if (!process->inner_pid)
		process->inner_pid = (uint32_t)process->pid;
	return !strstr(status, "\nState:\tZ") || number_of(status, "\nThreads:\t", 1) > 1;
}

/* The kernel lets nobody read a process that has ended and was not waited for. */
static int visit_unread(struct walk *walk, struct regtab_view_member *process)
{
	if (!describe(process) || process->uid != geteuid())
		return 0;
	process->unread = true;
	process->reason = "the kernel does not let this user read it";
	return add_process(walk->all, process, NULL);
}

/* Returns @err if descriptors or memory ran out, else 0. */
static int exhaustion(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM ? err : 0;
}

/*
 * Sets *found if this is the table of the process, or if no descriptor can be read: the kernel
 * lists them in other user namespaces, too, but does not tell what they are.
 */
static int visit_descriptor(struct walk *walk, struct regtab_view_member *process, bool *found)
{
	struct regtab_file *file = NULL;
	int result = 0, err = check_name(process->path);
	int fd = err ? err : open_memory_file(walk, process->path);

	*found = fd == -EACCES;
	if (*found)
		return visit_unread(walk, process);
	if (fd < 0)
		return exhaustion(fd);
	describe(process);
	process->reason = read_file(fd, &file);
	close(fd);
	*found = process->reason || (file && wrote(process, file));
	if (*found)
		result = add_process(walk->all, process, process->reason ? NULL : file);
	free(file);
	return result;
}

/* A process may end at any time. */
static int visit_process(struct walk *walk, pid_t pid)
{
	struct regtab_view_member process = { .pid = pid };
	struct dirent *entry;
	bool found = false;
	int result = 0;
	DIR *dir;

	snprintf(process.path, sizeof(process.path), "/proc/%d/fd", (int)pid);
	dir = opendir(process.path);
	if (!dir)
		return errno == EACCES ? visit_unread(walk, &process) : exhaustion(-errno);
	while (!result && !found && (entry = readdir(dir))) {
		snprintf(process.path, sizeof(process.path), "/proc/%d/fd/%.20s", (int)pid,
			 entry->d_name);
		result = visit_descriptor(walk, &process, &found);
	}
	closedir(dir);
	return result;
}

/* ---- all processes ---- */

/* All memory files are on one file system of the kernel. 0 or -errno. */
static int find_memory_files(dev_t *device)
{
	int fd = regtab_make_file("device");
	struct stat st = { 0 };

	if (fd < 0)
		return fd;
	fstat(fd, &st);
	close(fd);
	*device = st.st_dev;
	return 0;
}

static int visit_all(struct walk *walk)
{
	struct dirent *entry;
	int result = 0;
	DIR *dir = opendir("/proc");

	if (!dir)
		return -errno;
	while (!result && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			result = visit_process(walk, atoi(entry->d_name));
	closedir(dir);
	return result;
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

bool regtab_view_next_qp(const struct regtab_view *view, uint32_t from, struct regtab_view_qp *qp)
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

bool regtab_view_next_table(const struct regtab_view *all, struct regtab_view *table)
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
	struct walk walk = { .all = all };
	int err = find_memory_files(&walk.memory);

	*all = (struct regtab_view){ 0 };
	if (!err)
		err = visit_all(&walk);
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
