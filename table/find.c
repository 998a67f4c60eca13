/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Finds and reads tables as /proc/PID/fd/N.
 *
 * A process may have any file under the table's name. It may exchange the file meanwhile, and the
 * file may be a FIFO, a device, or on a file system that does not answer. So a file is held by an
 * O_PATH descriptor, which opens nothing, and is opened only if it is a memory file. A table counts
 * only for the process that wrote it: a forked child has the descriptor of its parent.
 */
#include "find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

struct walk {
	int (*visit)(void *context, const struct regtab_process *process,
		     const struct regtab_file *file);
	void *context;
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
	struct stat st;

	if (header->magic != REGTAB_MAGIC)
		return "it is not a registration table";
	if (header->layout != REGTAB_LAYOUT)
		return "it is of another version of this library";
	if ((fcntl(fd, F_GET_SEALS) & SEALS) != SEALS)
		return "it is not sealed";
	if (header->place_count > REGTAB_PLACES_MAX || fstat(fd, &st) ||
	    st.st_size != (off_t)regtab_size(header->place_count))
		return "it is damaged: its size is wrong";
	return NULL;
}

/* Sets *file to a copy of the table, which the caller frees. Returns NULL, or a reason. */
static const char *read_file(int fd, struct regtab_file **file)
{
	struct regtab_file header = { .magic = 0 };
	const char *reason;
	ssize_t size;

	if (pread(fd, &header, sizeof(header), 0) < 0)
		return "it cannot be read";
	reason = check_file(fd, &header);
	if (reason)
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

/* ---- one process ---- */

/* Reads a file of /proc/PID. "": there is none. */
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

/* The number at this place of a line of /proc/PID/status, -1 for the last one. 0: not found. */
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
static bool wrote(const struct regtab_process *process, const struct regtab_file *file)
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

static void describe(struct regtab_process *process)
{
	char status[1 << 16], *end;	/* NSpid stands behind thousands of groups */

	read_text(process->pid, "status", status, sizeof(status));
	process->uid = (uid_t)number_of(status, "\nUid:\t", 2);
	/* Linux before 4.1 shows no ids of other namespaces. */
	process->inner_pid = (uint32_t)number_of(status, "\nNSpid:\t", -1);
	if (!process->inner_pid)
		process->inner_pid = (uint32_t)process->pid;
	read_text(process->pid, "comm", process->command, sizeof(process->command));
	end = strchr(process->command, '\n');
	if (end)
		*end = 0;
}

static int visit_unread(struct walk *walk, struct regtab_process *process)
{
	describe(process);
	if (process->uid != geteuid())
		return 0;
	process->unread = true;
	process->reason = "the kernel does not let this user read it";
	return walk->visit(walk->context, process, NULL);
}

/*
 * Sets *found if this is the table of the process, or if no descriptor can be read: the kernel
 * lists them in other user namespaces, too, but does not tell what they are.
 */
static int visit_descriptor(struct walk *walk, struct regtab_process *process, bool *found)
{
	struct regtab_file *file = NULL;
	int result = 0, fd = check_name(process->path);

	if (!fd)
		fd = open_memory_file(walk, process->path);
	*found = fd == -EACCES;
	if (fd < 0)
		return *found ? visit_unread(walk, process) : 0;
	describe(process);
	process->reason = read_file(fd, &file);
	close(fd);
	*found = process->reason || wrote(process, file);
	if (*found)
		result = walk->visit(walk->context, process, process->reason ? NULL : file);
	free(file);
	return result;
}

/* A process may end at any time. */
static int visit_process(struct walk *walk, pid_t pid)
{
	struct regtab_process process = { .pid = pid };
	struct dirent *entry;
	bool found = false;
	int result = 0;
	DIR *dir;

	snprintf(process.path, sizeof(process.path), "/proc/%d/fd", (int)pid);
	dir = opendir(process.path);
	if (!dir)
		return errno == EACCES ? visit_unread(walk, &process) : 0;
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
	int fd = memfd_create("device", MFD_CLOEXEC);
	struct stat st = { 0 };

	if (fd < 0)
		return -errno;
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

int regtab_each(int (*visit)(void *context, const struct regtab_process *process,
			     const struct regtab_file *file),
		void *context)
{
	struct walk walk = { .visit = visit, .context = context };
	int err = find_memory_files(&walk.memory);

	return err ? err : visit_all(&walk);
}
