/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table of this process: its content, and the memory file by which others see it. */
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 8u
#endif

/* NULL: this process has opened no domain yet. The magic is in the memory file only. */
static struct regtab_file *own;
/*
 * The memory file, NULL if there is none. A child that has become another user can still write to
 * it, so it is never read here.
 */
static struct regtab_file *shown;
static uint32_t used;			/* places */
static uint32_t next_place;		/* where the search for a free one begins */
static uint32_t missing;		/* registrations without a place, also while own is NULL */
/* The descriptor, -1 if there is none, and the file that it must lead to. */
static int own_fd = -1;
static dev_t own_dev;
static ino_t own_ino;

/* ---- memory ---- */

/* False also if the program has closed the descriptor and opened a file of its own there. */
static bool is_visible(void)
{
	struct stat st;

	return own_fd >= 0 && !fstat(own_fd, &st) && st.st_dev == own_dev && st.st_ino == own_ino;
}

static void close_file(void)
{
	if (is_visible())
		close(own_fd);
	own_fd = -1;
	if (shown)
		munmap(shown, regtab_size(own->place_count));
	shown = NULL;
}

/* Readers do not see the new table until regtab_show(). False: no memory, the old one stays. */
static bool resize(uint32_t place_count)
{
	struct regtab_file *memory = mmap(NULL, regtab_size(place_count), PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	if (own) {
		memcpy(memory, own, regtab_size(own->place_count));
		close_file();
		munmap(own, regtab_size(own->place_count));
	} else {
		memory->layout = REGTAB_LAYOUT;
		memory->start = regtab_start("/proc/self/stat");
		memory->pid = (uint32_t)getpid();
		memory->missing = missing;
	}
	memory->place_count = place_count;
	own = memory;
	return true;
}

/* ---- content ---- */

/* Sets a member of the table, and the same of the memory file. */
#define SET(member, value) \
	do { \
		own->member = (value); \
		if (shown) \
			__atomic_store_n(&shown->member, own->member, __ATOMIC_RELEASE); \
	} while (0)

int regtab_open(const struct regtab_key *key)
{
	struct timespec now;

	if (!own && !resize(REGTAB_PLACES_MIN))
		return REGTAB_NONE;
	clock_gettime(CLOCK_REALTIME, &now);
	for (int i = 0; i < (int)REGTAB_DOMAINS; i++) {
		if (own->domains[i].since)
			continue;
		own->domains[i].key = *key;
		if (shown)
			shown->domains[i].key = *key;
		SET(domains[i].since, (uint64_t)now.tv_sec);
		return i;
	}
	return REGTAB_NONE;
}

void regtab_close(int domain)
{
	if (domain != REGTAB_NONE)
		SET(domains[domain].since, 0);
}

/* An eighth of the places stays free, so that the search for one is short. */
static bool make_room(void)
{
	uint32_t count = own->place_count;

	if (used >= count - count / 8 && count < REGTAB_PLACES_MAX)
		resize(2 * count); /* without memory, the last places are used */
	return used < own->place_count;
}

static uint32_t find_free_place(void)
{
	uint32_t place = next_place % own->place_count;

	while (own->places[place])
		place = (place + 1) % own->place_count;
	return place;
}

static void set_missing(uint32_t count)
{
	missing = count;
	if (own)
		SET(missing, count);
}

int regtab_enter(int domain, uint32_t qp_num, bool created)
{
	uint32_t place;

	if (domain == REGTAB_NONE || !make_room()) {
		set_missing(missing + 1);
		return REGTAB_NONE;
	}
	place = find_free_place();
	SET(places[place], REGTAB_REGISTERED | (created ? REGTAB_CREATED : 0) |
				   (uint32_t)domain << 24 | REGTAB_QP_NUM(qp_num));
	used++;
	next_place = place + 1;
	return (int)place;
}

void regtab_drop(int place)
{
	if (place == REGTAB_NONE) {
		set_missing(missing - 1);
		return;
	}
	SET(places[place], 0);
	used--;
	next_place = (uint32_t)place;
}

/* ---- the memory file ---- */

/* Past this limit (ulimit -f) the kernel would send SIGXFSZ. */
static bool exceeds_file_size(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       limit.rlim_cur < regtab_size(own->place_count);
}

/* Kernels before 6.3 refuse MFD_NOEXEC_SEAL, which hardened later ones require. */
int regtab_make_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd < 0 ? -errno : fd;
}

/* A high number if one is free, since programs expect low numbers for files of their own. */
static int move_up(int fd)
{
	struct rlimit limit = { .rlim_cur = 0 };
	int high;

	getrlimit(RLIMIT_NOFILE, &limit);
	high = fcntl(fd, F_DUPFD_CLOEXEC,
		     (int)(limit.rlim_cur < 1024 ? limit.rlim_cur : 1024) / 8 * 7);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* Memory is reserved here: without it, a store into the mapping would end in SIGBUS. */
static int map_file(int fd, void **memory)
{
	size_t size = regtab_size(own->place_count);

	if (fallocate(fd, 0, 0, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	*memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return *memory == MAP_FAILED ? -errno : 0;
}

/* Field 22 is the start. Field 2, the command in parentheses, may contain ")". */
uint64_t regtab_start(const char *stat)
{
	char text[1024], *field;
	int fd = open(stat, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
	field = strrchr(text, ')');
	for (int number = 2; field && number < 22; number++)
		field = strchr(field + 1, ' ');
	return field ? strtoull(field, NULL, 10) : 0;
}

static int adopt_file(int fd)
{
	struct stat st;
	void *memory;
	int err = fstat(fd, &st) ? -errno : map_file(fd, &memory);

	if (err)
		return err;
	close_file();
	memcpy(memory, own, regtab_size(own->place_count));
	shown = memory;
	/* A reader passes over a file without it. */
	__atomic_store_n(&shown->magic, REGTAB_MAGIC, __ATOMIC_RELEASE);
	own_fd = fd;
	own_dev = st.st_dev;
	own_ino = st.st_ino;
	return 0;
}

int regtab_show(void)
{
	int fd, err;

	if (!own || is_visible())
		return 0;
	if (exceeds_file_size())
		return -EFBIG;
	fd = regtab_make_file(REGTAB_NAME);
	if (fd < 0)
		return fd;
	fd = move_up(fd);
	err = adopt_file(fd);
	if (err)
		close(fd);
	return err;
}

void regtab_forget(void)
{
	own = shown = NULL;
	own_fd = -1;
	used = next_place = missing = 0;
}
