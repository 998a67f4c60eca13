/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes the registration table: makes, locks, fills and removes the files of this process. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "regtab_file.h"

#define FILE_SIZE	((size_t)(1 + REGTAB_MAP_PAGES) * REGTAB_PAGE)
#define MAKE_TRIES	8	/* a try fails if a gc takes the file before it is locked */

struct regtab_entry {
	pthread_mutex_t mutex;
	unsigned checked;	/* second of the last check of the file */
	int enter_err;		/* -errno: a QP could not be entered, so the file is incomplete */
	int fd;			/* -1: no file */
	dev_t dev;
	ino_t ino;
	char *map;		/* NULL until the first QP: jobs without receive QPs need none */
	/* a bit for each page that the file has */
	uint8_t reserved[(1 + REGTAB_MAP_PAGES + 7) / 8];
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

/* Before the first file: a later gc would close files of this process, which releases locks. */
static void clean_once(const char *dir)
{
	pthread_mutex_lock(&cleaning);
	if (!cleaned)
		regtab_gc(dir);
	cleaned = true;
	pthread_mutex_unlock(&cleaning);
}

/*
 * False in a forked child: it must not touch its parent's file, nor a mutex of its threads. By the
 * pid, because a child of _Fork() runs no fork handlers.
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

/* Allocate a page before it is touched: on a full file system touching it is a SIGBUS. */
static int reserve(int fd, unsigned page)
{
	off_t end = (off_t)(page + 1) * REGTAB_PAGE;
	struct rlimit limit;
	int err = -EINTR;

	/* Past this limit (ulimit -f) the kernel would also send SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && (rlim_t)end > limit.rlim_cur)
		return -EFBIG;
	/* A signal interrupts fallocate(2). With a fast timer, some try succeeds. */
	for (int i = 0; i < 1000 && err == -EINTR; i++)
		err = fallocate(fd, 0, end - REGTAB_PAGE, REGTAB_PAGE) ? -errno : 0;
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

	header.magic = 0;
	if (pwrite(entry->fd, &header, sizeof(header), 0) != sizeof(header))
		return -EIO;
	/* A crash up to here leaves a file without the magic. Readers skip it, a gc removes it. */
	regtab_fault_point();
	if (pwrite(entry->fd, &entry->header.magic, sizeof(header.magic), 0) !=
	    sizeof(header.magic))
		return -EIO;
	regtab_fault_point();
	return 0;
}

/* -EAGAIN: a gc locked or removed the file first. It stays empty until it is locked. */
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
	err = reserve(entry->fd, 0);
	return err ? err : write_header(entry);
}

/* mkostemp() uses O_EXCL: a planted file is never opened. */
static int make_file(struct regtab_entry *entry)
{
	int err, used = snprintf(entry->path, sizeof(entry->path),
				 "%s/" REGTAB_PREFIX "%u-%.32s-XXXXXX", entry->dir,
				 (unsigned)geteuid(), entry->header.key.device);

	/* Not a relative path: processes differ in their working directories. */
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

	if (entry->map)
		munmap(entry->map, FILE_SIZE);
	if (fd_is_ours(entry, &st))
		close(entry->fd);
	entry->map = NULL;
	entry->fd = -1;
	memset(entry->reserved, 0, sizeof(entry->reserved));
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

/* Make the file if it is lost. True: enter all registrations again. Entry locked. */
static bool check_file(struct regtab_entry *entry, struct regtab_news *news)
{
	int tries = MAKE_TRIES;
	struct stat st;

	news->err = entry->enter_err;
	entry->enter_err = 0;
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

bool regtab_refresh(struct regtab_entry *entry, struct regtab_news *news)
{
	unsigned now = monotonic_second();
	bool again = false;

	*news = (struct regtab_news){ 0 };
	if (!is_mine(entry) || now == __atomic_load_n(&entry->checked, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&entry->mutex);
	if (now != entry->checked) {
		__atomic_store_n(&entry->checked, now, __ATOMIC_RELAXED);
		again = check_file(entry, news);
	}
	pthread_mutex_unlock(&entry->mutex);
	return again;
}

void regtab_free(struct regtab_entry *entry)
{
	if (is_mine(entry))
		end_file(entry);
	else if (entry)
		close_file(entry);
	free(entry);
}

/* ---- registrations ---- */

/* Allocate the page in the file, and map the file. Entry locked. */
static int prepare_page(struct regtab_entry *entry, unsigned page)
{
	struct stat st;
	void *map;
	int err;

	if (!fd_is_ours(entry, &st))
		return -ESTALE;
	err = reserve(entry->fd, page);
	if (err)
		return err;
	if (!entry->map) {
		map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, entry->fd, 0);
		if (map == MAP_FAILED)
			return -errno;
		entry->map = map;
	}
	entry->reserved[page / 8] |= (uint8_t)(1u << page % 8);
	return 0;
}

static bool is_reserved(const struct regtab_entry *entry, unsigned page)
{
	return entry->reserved[page / 8] >> page % 8 & 1;
}

static unsigned page_of(uint32_t qp_num)
{
	return 1 + qp_num / REGTAB_PAGE_QPS;
}

/* Page reserved, entry locked. Readers in other processes may read the word at any time. */
static void set_bits(struct regtab_entry *entry, uint32_t qp_num, uint32_t bits)
{
	uint32_t *word = (uint32_t *)(void *)(entry->map + REGTAB_PAGE) + qp_num / REGTAB_WORD_QPS;
	unsigned shift = 2 * (qp_num % REGTAB_WORD_QPS);

	__atomic_store_n(word, (*word & ~(3u << shift)) | bits << shift, __ATOMIC_RELAXED);
	regtab_fault_point();
}

int regtab_enter(struct regtab_entry *entry, uint32_t qp_num, bool created)
{
	unsigned page = page_of(qp_num);
	int err = 0;

	if (!is_mine(entry) || qp_num > REGTAB_QP_NUM_MAX)
		return 0;
	pthread_mutex_lock(&entry->mutex);
	if (entry->fd >= 0) {
		err = is_reserved(entry, page) ? 0 : prepare_page(entry, page);
		if (!err)
			set_bits(entry, qp_num, REGTAB_REGISTERED | (created ? REGTAB_CREATED : 0));
		if (err)
			entry->enter_err = err;
	}
	pthread_mutex_unlock(&entry->mutex);
	return err;
}

void regtab_drop(struct regtab_entry *entry, uint32_t qp_num)
{
	if (!is_mine(entry) || qp_num > REGTAB_QP_NUM_MAX)
		return;
	pthread_mutex_lock(&entry->mutex);
	if (is_reserved(entry, page_of(qp_num)))
		set_bits(entry, qp_num, 0);
	pthread_mutex_unlock(&entry->mutex);
}
