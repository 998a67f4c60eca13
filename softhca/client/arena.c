/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The arena: memory for the provider's rings and doorbell records, shared with the daemon. */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Only used pages cost memory. A 32-bit process gets less: its addresses are scarce. */
#define ARENA_SIZE ((size_t)(sizeof(void *) > 4 ? 256 : 64) << 20)
#define PAGE	   ((size_t)4096)
#define PAGES	   (ARENA_SIZE / PAGE)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int fd;
	unsigned char *base;
	bool tried, enabled;
	size_t hint; /* where the last allocation ended */
	unsigned char used[PAGES];
} arena = { .fd = -1 };

/* ftruncate() past the file size limit of the program would raise SIGXFSZ in it. */
static bool size_allowed(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= ARENA_SIZE);
}

/* Sealed against shrinking: the daemon maps it too and must not die by SIGBUS. */
static int create_file(void)
{
	int fd = memfd_create("softhca-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (!ftruncate(fd, (off_t)ARENA_SIZE) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	real()->close(fd);
	return -1;
}

static void create(void)
{
	void *base;

	arena.tried = true;
	if (!size_allowed())
		return;
	arena.fd = create_file();
	if (arena.fd < 0)
		return;
	base = real()->mmap64(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			      arena.fd, 0);
	if (base == MAP_FAILED) {
		real()->close(arena.fd);
		arena.fd = -1;
		return;
	}
	arena.base = base;
}

struct arena_info arena_info(void)
{
	struct arena_info info;
	int saved = errno;

	pthread_mutex_lock(&lock);
	if (!arena.tried)
		create();
	info.fd = arena.fd;
	info.base = (uint64_t)(uintptr_t)arena.base;
	info.size = arena.fd < 0 ? 0 : ARENA_SIZE;
	pthread_mutex_unlock(&lock);
	errno = saved;
	return info;
}

void arena_enable(bool enabled)
{
	pthread_mutex_lock(&lock);
	arena.enabled = enabled;
	pthread_mutex_unlock(&lock);
}

/* First page of @count free ones at or after @from, or PAGES. */
static size_t find_run(size_t from, size_t count)
{
	size_t run = 0;

	for (size_t page = from; page < PAGES; page++) {
		run = arena.used[page] ? 0 : run + 1;
		if (run == count)
			return page + 1 - count;
	}
	return PAGES;
}

void *arena_alloc(size_t length)
{
	size_t count = (length + PAGE - 1) / PAGE;
	size_t first = PAGES;
	void *address = NULL;

	pthread_mutex_lock(&lock);
	if (arena.enabled && arena.base && count && count <= PAGES) {
		first = find_run(arena.hint, count);
		if (first == PAGES)
			first = find_run(0, count);
	}
	if (first != PAGES) {
		memset(arena.used + first, 1, count);
		arena.hint = first + count;
		address = arena.base + first * PAGE;
	}
	pthread_mutex_unlock(&lock);
	return address;
}

bool arena_free(void *address, size_t length)
{
	size_t offset = (size_t)((unsigned char *)address - arena.base);
	size_t count = (length + PAGE - 1) / PAGE;

	if (!arena.base || (unsigned char *)address < arena.base || offset >= ARENA_SIZE ||
	    length > ARENA_SIZE - offset)
		return false;
	/* Frees the pages, so that the next owner finds zeroes, as in fresh memory. */
	madvise(address, count * PAGE, MADV_REMOVE);
	pthread_mutex_lock(&lock);
	memset(arena.used + offset / PAGE, 0, count);
	pthread_mutex_unlock(&lock);
	return true;
}

void arena_forked(void)
{
	/* Another thread of the parent may have held it. */
	pthread_mutex_init(&lock, NULL);
	if (arena.fd >= 0)
		real()->close(arena.fd);
	/* The mapping stays: the child may still read its parent's rings. */
	memset(arena.used, 0, sizeof(arena.used));
	arena.fd = -1;
	arena.base = NULL;
	arena.tried = arena.enabled = false;
	arena.hint = 0;
}
