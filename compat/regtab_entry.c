/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Writes the registration table: makes, locks, fills and removes the files of this process.
 *
 * The file system may be slow or full, so no thread waits for another thread's system call. A
 * thread changes the entry's map in memory. If no other thread is writing, it then writes the
 * changed words into the file. Otherwise the writing thread does so before it stops.
 */
#include "regtab_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAKE_TRIES	8	/* a try fails if a gc takes the file before it is locked */
#define PAGE_WORDS	(REGTAB_PAGE / (uint32_t)sizeof(uint32_t))
#define MAP_WORDS	(REGTAB_MAP_PAGES * PAGE_WORDS)
#define CHUNK_WORDS	128u	/* are written at once; a program's stack may be small */

struct regtab_entry {
	pthread_mutex_t mutex;
	unsigned checked;	/* second of the last check of the file */
	bool writing;		/* one thread uses the members below the map, without the mutex */
	/* words of the map that the file may lack, from <= word < to */
	uint32_t dirty_from, dirty_to;
	uint32_t *pages[REGTAB_MAP_PAGES];	/* the map; NULL: no QP so far */

	int err;		/* -errno: a word could not be written */
	int fd;			/* -1: no file */
	rlim_t size_limit;	/* of files, at the last check */
	dev_t dev;
	ino_t ino;
	const char *dir;
	char path[512];
	struct regtab_header header;
};

/* ---- this process ---- */

static pthread_mutex_t cleaning = PTHREAD_MUTEX_INITIALIZER;
static bool cleaned;

static void in_child(void)
{
	pthread_mutex_init(&cleaning, NULL);
	cleaned = false;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

/*
 * Runs before the first file is made: a later gc would close files of this process, which releases
 * their locks.
 */
static void clean_once(const char *dir)
{
	pthread_mutex_lock(&cleaning);
	if (!cleaned)
		regtab_gc(dir);
	cleaned = true;
	pthread_mutex_unlock(&cleaning);
}

/*
 * False in a forked child, which must not touch its parent's file, nor a mutex of the parent's
 * threads. The pid tells, because a child of _Fork() runs no fork handlers.
 */
static bool is_mine(const struct regtab_entry *entry)
{
	return entry && entry->header.pid == (uint32_t)getpid();
}

/* ---- one file ---- */

/* False if the program has closed the descriptor, and perhaps opened a file of its own there. */
static bool fd_is_ours(const struct regtab_entry *entry, struct stat *st)
{
	return entry->fd >= 0 && !fstat(entry->fd, st) && st->st_dev == entry->dev &&
	       st->st_ino == entry->ino;
}

/* -ESTALE: the program has closed the descriptor. */
static int write_file(const struct regtab_entry *entry, const void *bytes, size_t size, off_t at)
{
	struct stat st;
	ssize_t written;
	int err = 0;

	if (!fd_is_ours(entry, &st))
		return -ESTALE;
	/* Past this limit (ulimit -f) the kernel would send SIGXFSZ. */
	if ((rlim_t)at + size > entry->size_limit)
		return -EFBIG;
	written = pwrite(entry->fd, bytes, size, at);
	if (written != (ssize_t)size)
		err = written < 0 ? -errno : -ENOSPC;
	regtab_fault_point();
	return err;
}

/* A program that has closed a standard descriptor may want the number for a file of its own. */
static int above_standard(int fd)
{
	int above = fd;

	if (fd <= STDERR_FILENO) {
		above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(fd);
	}
	return above < 0 ? -errno : above;
}

static int write_header(const struct regtab_entry *entry)
{
	struct regtab_header header = entry->header;
	int err;

	/* A crash in between leaves a file without the magic. Readers skip it, a gc removes it. */
	header.magic = 0;
	err = write_file(entry, &header, sizeof(header), 0);
	return err ? err : write_file(entry, &entry->header.magic, sizeof(header.magic), 0);
}

/* -EAGAIN: a gc locked or removed the file first. The file stays empty until it is locked. */
static int lock_and_fill(struct regtab_entry *entry)
{
	struct stat st;
	int err;

	if (fchmod(entry->fd, 0600))	/* the umask may have removed the owner's rights */
		return -errno;
	err = regtab_lock(entry->fd);
	if (err)
		return err;
	if (fstat(entry->fd, &st))
		return -errno;
	if (!st.st_nlink)
		return -EAGAIN;
	entry->dev = st.st_dev;
	entry->ino = st.st_ino;
	return write_header(entry);
}

/* mkostemp() uses O_EXCL: a planted file is never opened. */
static int make_file(struct regtab_entry *entry)
{
	int err, used = snprintf(entry->path, sizeof(entry->path),
				 "%s/" REGTAB_PREFIX "%u-%.32s-XXXXXX", entry->dir,
				 (unsigned)geteuid(), entry->header.key.device);

	/* A relative path is refused: processes differ in their working directories. */
	if (used >= (int)sizeof(entry->path) || entry->dir[0] != '/')
		return -EINVAL;
	entry->fd = mkostemp(entry->path, O_CLOEXEC);
	if (entry->fd < 0)
		return -errno;
	regtab_fault_point();
	entry->fd = above_standard(entry->fd);
	err = entry->fd < 0 ? entry->fd : lock_and_fill(entry);
	if (!err)
		return 0;
	unlink(entry->path);
	if (entry->fd >= 0)
		close(entry->fd);
	entry->fd = -1;
	return err;
}

/* In a forked child this closes the child's copy of the descriptor, which holds no lock. */
static void close_file(struct regtab_entry *entry)
{
	struct stat st;

	if (fd_is_ours(entry, &st))
		close(entry->fd);
	entry->fd = -1;
}

static void end_file(struct regtab_entry *entry)
{
	if (entry->fd < 0)
		return;
	regtab_unlink(entry->path, entry->dev, entry->ino);
	close_file(entry);
	regtab_fault_point();
}

/* ---- entries ---- */

static void fill_header(struct regtab_header *header, const struct regtab_key *key,
			const char *label)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	header->magic = REGTAB_MAGIC;
	header->version = REGTAB_VERSION;
	header->header_size = sizeof(*header);
	header->key = *key;
	header->pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	header->since = (uint64_t)now.tv_sec;
	header->pid = (uint32_t)getpid();
	snprintf(header->command, sizeof(header->command), "%s", program_invocation_short_name);
	snprintf(header->label, sizeof(header->label), "%s", label);
}

/* The coarse clock takes a tenth of the time of a system call. */
static unsigned monotonic_second(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (unsigned)now.tv_sec;
}

struct regtab_entry *regtab_new(const char *dir, const struct regtab_key *key, const char *label)
{
	struct regtab_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	pthread_mutex_init(&entry->mutex, NULL);
	entry->dir = dir;
	entry->fd = -1;
	entry->checked = monotonic_second() - 1;
	fill_header(&entry->header, key, label);
	return entry;
}

/* ---- the map ---- */

static void mark_dirty(struct regtab_entry *entry, uint32_t from, uint32_t to)
{
	if (entry->dirty_from > from)
		entry->dirty_from = from;
	if (entry->dirty_to < to)
		entry->dirty_to = to;
}

/* The next words to be written: their number, 0 if there are none. Entry locked. */
static uint32_t take_dirty(struct regtab_entry *entry, uint32_t *words, uint32_t *first)
{
	while (entry->dirty_from < entry->dirty_to) {
		uint32_t from = entry->dirty_from, end = (from / CHUNK_WORDS + 1) * CHUNK_WORDS;
		const uint32_t *page = entry->pages[from / PAGE_WORDS];

		if (end > entry->dirty_to)
			end = entry->dirty_to;
		entry->dirty_from = end;
		if (!page)
			continue;
		memcpy(words, page + from % PAGE_WORDS, (end - from) * sizeof(*words));
		*first = from;
		return end - from;
	}
	entry->dirty_from = MAP_WORDS;
	entry->dirty_to = 0;
	return 0;
}

/* The caller has set entry->writing. Entry locked, but not while this writes. */
static void write_dirty(struct regtab_entry *entry)
{
	uint32_t words[CHUNK_WORDS], first, count;
	int err = 0;

	while ((count = take_dirty(entry, words, &first))) {
		pthread_mutex_unlock(&entry->mutex);
		if (entry->fd >= 0)
			err = write_file(entry, words, count * sizeof(*words),
					 REGTAB_PAGE + (off_t)(first * sizeof(*words)));
		pthread_mutex_lock(&entry->mutex);
		if (err)
			entry->err = err;
	}
}

static rlim_t file_size_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

/* Makes the file if it is lost. True: the whole map has to be written. */
static bool check_file(struct regtab_entry *entry, struct regtab_news *news)
{
	int tries = MAKE_TRIES;
	struct stat st;

	entry->size_limit = file_size_limit();
	news->err = entry->err;
	entry->err = 0;
	if (fd_is_ours(entry, &st) && st.st_nlink)
		return news->err != 0;
	if (fd_is_ours(entry, &st))
		news->lost =
			"was removed while it was in use, as systemd does at log-out (RemoveIPC=yes)";
	else if (entry->fd >= 0)
		news->lost = "lost its lock, because the program closed its descriptor";
	end_file(entry);
	clean_once(entry->dir);
	do {
		news->err = make_file(entry);
	} while (news->err == -EAGAIN && --tries);
	return !news->err;
}

/* Entry locked, but not while this calls the kernel. */
static void refresh(struct regtab_entry *entry, struct regtab_news *news)
{
	bool all;

	entry->writing = true;
	pthread_mutex_unlock(&entry->mutex);
	all = check_file(entry, news);
	pthread_mutex_lock(&entry->mutex);
	if (all)
		mark_dirty(entry, 0, MAP_WORDS);
	write_dirty(entry);
	entry->writing = false;
}

void regtab_refresh(struct regtab_entry *entry, struct regtab_news *news)
{
	unsigned now = monotonic_second();

	*news = (struct regtab_news){ 0 };
	if (!entry || now == __atomic_load_n(&entry->checked, __ATOMIC_RELAXED) || !is_mine(entry))
		return;
	pthread_mutex_lock(&entry->mutex);
	if (now != entry->checked && !entry->writing) {
		__atomic_store_n(&entry->checked, now, __ATOMIC_RELAXED);
		refresh(entry, news);
	}
	pthread_mutex_unlock(&entry->mutex);
}

/* False: there is nothing to write. Without memory the table lacks the QP. Entry locked. */
static bool set_bits(struct regtab_entry *entry, uint32_t qp_num, uint32_t bits)
{
	uint32_t **page = &entry->pages[qp_num / REGTAB_PAGE_QPS];
	uint32_t *word, place = qp_num / REGTAB_WORD_QPS;
	unsigned shift = 2 * (qp_num % REGTAB_WORD_QPS);

	if (!*page && bits)
		*page = calloc(PAGE_WORDS, sizeof(**page));
	if (!*page)
		return false;
	word = *page + place % PAGE_WORDS;
	*word = (*word & ~(3u << shift)) | bits << shift;
	mark_dirty(entry, place, place + 1);
	return true;
}

static void update(struct regtab_entry *entry, uint32_t qp_num, uint32_t bits)
{
	if (!is_mine(entry) || qp_num > REGTAB_QP_NUM_MAX)
		return;
	pthread_mutex_lock(&entry->mutex);
	if (set_bits(entry, qp_num, bits) && !entry->writing) {
		entry->writing = true;
		write_dirty(entry);
		entry->writing = false;
	}
	pthread_mutex_unlock(&entry->mutex);
}

void regtab_enter(struct regtab_entry *entry, uint32_t qp_num, bool created)
{
	update(entry, qp_num, REGTAB_REGISTERED | (created ? REGTAB_CREATED : 0));
}

void regtab_drop(struct regtab_entry *entry, uint32_t qp_num)
{
	update(entry, qp_num, 0);
}

void regtab_free(struct regtab_entry *entry)
{
	if (!entry)
		return;
	if (is_mine(entry))
		end_file(entry);
	else
		close_file(entry);
	for (unsigned i = 0; i < REGTAB_MAP_PAGES; i++)
		free(entry->pages[i]);
	free(entry);
}
