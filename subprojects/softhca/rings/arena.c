/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The arena: memory for the provider's rings and doorbell records, shared with the daemon.
 *
 * The kernel chooses each ring's address, as it does for ordinary memory, and the address gives the
 * page of the file (proto.h). So no part of the address space is reserved: a program that unmaps a
 * ring unseen, by a munmap() of its own, or that maps over one, meets nothing of ours later.
 */
#include "arena.h"

#include <own/own.h>
#include <own/real.h>
#include <proto.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Only used pages cost memory. A 32-bit daemon maps the whole file, so that one is smaller. */
#define BYTES ((uint64_t)(sizeof(void *) > 4 ? 1024 : 64) << 20)
#define PAGES (BYTES / SOFTHCA_PAGE)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int fd;
	struct file_id file;
	_Atomic uint32_t *_Atomic owner; /* the table in the file; NULL = no arena */
	bool tried, enabled;
} arena = { .fd = -1 };

/* ftruncate() or pwrite64() past the file size limit of the program would raise SIGXFSZ in it. */
static bool size_allowed(uint64_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

/* Sealed against shrinking: the daemon maps it too and must not die by SIGBUS. */
static int create_file(uint64_t size)
{
	int fd = size_allowed(size) ? memfd_create("softhca-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING)
				    : -1;

	if (fd < 0)
		return -1;
	if (!ftruncate64(fd, (off64_t)size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd_move_high(fd);
	real()->close(fd);
	return -1;
}

static void create(void)
{
	const size_t table = (size_t)softhca_arena_table(PAGES);
	void *owner;

	arena.tried = true;
	arena.fd = create_file(table + BYTES);
	if (arena.fd < 0)
		return;
	owner = real()->mmap64(NULL, table, PROT_READ | PROT_WRITE, MAP_SHARED, arena.fd, 0);
	if (owner == MAP_FAILED) {
		real()->close(arena.fd);
		arena.fd = -1;
		return;
	}
	arena.file = fd_file(arena.fd);
	arena.owner = owner;
}

/* closefrom() may have closed the file, and its number may be that of another one by now. */
static bool is_usable(void)
{
	return arena.owner && fd_is_still(arena.fd, arena.file);
}

struct arena_info arena_info(void)
{
	struct arena_info info = { .fd = -1 };
	int saved = errno;

	pthread_mutex_lock(&lock);
	if (!arena.tried)
		create();
	if (is_usable()) {
		info.fd = arena.fd;
		info.pages = PAGES;
	}
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

static off64_t file_offset(uint64_t address)
{
	return (off64_t)(softhca_arena_table(PAGES) +
			 softhca_arena_page(address, PAGES) * SOFTHCA_PAGE);
}

/* Frees the pages of the file, too. fallocate() is a cancellation point; munmap(2) is not. */
static void give_back(uint64_t address, size_t length)
{
	_Atomic uint32_t *owner = &arena.owner[softhca_arena_page(address, PAGES)];
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	fallocate64(arena.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, file_offset(address),
		    (off64_t)length);
	pthread_setcancelstate(cancel, NULL);
	for (size_t i = 0; i < length / SOFTHCA_PAGE; i++)
		atomic_store(&owner[i], 0);
}

/*
 * Takes the pages for memory at @address, unless memory at another address has one of them. If the
 * table names this very address, the program has unmapped that memory unseen. The pages still have
 * its contents then: libmlx4 and libmlx5 clear their rings and records themselves.
 */
static bool take(uint64_t address, size_t length)
{
	const uint32_t mine = softhca_arena_owner(address, PAGES);
	const uint64_t page = softhca_arena_page(address, PAGES);
	const size_t count = length / SOFTHCA_PAGE;

	if (count > PAGES - page)
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t owner = atomic_load(&arena.owner[page + i]);

		if (owner && owner != mine)
			return false;
	}
	for (size_t i = 0; i < count; i++)
		atomic_store(&arena.owner[page + i], mine);
	return true;
}

/* Puts the arena's pages at @memory, which is mapped. MAP_FAILED if @memory may be gone. */
static void *share(void *memory, size_t length)
{
	const uint64_t address = (uintptr_t)memory;
	void *shared;

	if (!arena.enabled || !is_usable() || !take(address, length))
		return memory;
	shared = real()->mmap64(memory, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
				arena.fd, file_offset(address));
	if (shared == MAP_FAILED)
		give_back(address, length);
	return shared;
}

/*
 * The pages that were moved in. Another thread may fork at any time, and the child reads this
 * table. So a page is added before it is shared, and removed after it is private again. A page that
 * finds no entry stays private, and the daemon reads it by system calls. 256 pages have 16384 of
 * libmlx5's doorbell records.
 */
#define MOST_MOVED 256
static _Atomic uint64_t moved[MOST_MOVED];

/* An entry of the table that has this value, or NULL. */
static _Atomic uint64_t *moved_entry(uint64_t value)
{
	for (size_t i = 0; i < MOST_MOVED; i++) {
		if (atomic_load(&moved[i]) == value)
			return &moved[i];
	}
	return NULL;
}

static bool make_private(uint64_t page)
{
	return real()->mmap64((void *)(uintptr_t)page, SOFTHCA_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static bool make_shared(uint64_t page)
{
	void *memory = (void *)(uintptr_t)page;

	return size_allowed((uint64_t)file_offset(page) + SOFTHCA_PAGE) &&
	       pwrite64(arena.fd, memory, SOFTHCA_PAGE, file_offset(page)) == SOFTHCA_PAGE &&
	       real()->mmap64(memory, SOFTHCA_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			      arena.fd, file_offset(page)) != MAP_FAILED;
}

bool arena_move_in(uint64_t page)
{
	_Atomic uint64_t *entry;
	bool shared = false;

	pthread_mutex_lock(&lock);
	entry = moved_entry(0);
	if (entry && arena.enabled && is_usable() && take(page, SOFTHCA_PAGE)) {
		atomic_store(entry, page);
		shared = make_shared(page);
		if (!shared) {
			atomic_store(entry, 0);
			give_back(page, SOFTHCA_PAGE);
		}
	}
	pthread_mutex_unlock(&lock);
	return shared;
}

/* The content goes: libmlx5 frees the page next, or clears a record before it uses that. */
void arena_move_out(uint64_t page)
{
	_Atomic uint64_t *entry;

	pthread_mutex_lock(&lock);
	entry = moved_entry(page);
	if (entry && make_private(page)) {
		atomic_store(entry, 0);
		if (is_usable())
			give_back(page, SOFTHCA_PAGE);
	}
	pthread_mutex_unlock(&lock);
}

/* Called in a forked child, whose libmlx5 goes on using the records of its parent's objects. */
static void copy_moved(void)
{
	char content[SOFTHCA_PAGE];

	for (size_t i = 0; i < MOST_MOVED; i++) {
		const uint64_t page = atomic_exchange(&moved[i], 0);
		void *memory = (void *)(uintptr_t)page;

		if (page && peek(content, memory, sizeof(content)) && make_private(page))
			memcpy(memory, content, sizeof(content));
	}
}

static size_t whole_pages(size_t length)
{
	return (length + SOFTHCA_PAGE - 1) / SOFTHCA_PAGE * SOFTHCA_PAGE;
}

void *arena_alloc(size_t length)
{
	const size_t size = whole_pages(length);
	void *memory = real()->mmap64(NULL, size, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return memory;
	pthread_mutex_lock(&lock);
	memory = share(memory, size);
	pthread_mutex_unlock(&lock);
	return memory;
}

/* How much of this memory, from its beginning, has pages of the arena. */
static size_t shared_length(uint64_t at, size_t length)
{
	const uint32_t mine = softhca_arena_owner(at, PAGES);
	_Atomic uint32_t *owner = arena.owner;
	size_t size = 0;

	if (!owner || at % SOFTHCA_PAGE)
		return 0;
	for (uint64_t page = softhca_arena_page(at, PAGES);
	     size < length && page < PAGES && atomic_load(&owner[page]) == mine; page++)
		size += SOFTHCA_PAGE;
	return size;
}

/* The provider unmaps a ring in one piece. */
void arena_unmapped(void *address, size_t length)
{
	const uint64_t at = (uintptr_t)address;
	const size_t size = shared_length(at, length);
	int saved = errno;

	if (!size)
		return;
	pthread_mutex_lock(&lock);
	if (is_usable())
		give_back(at, size);
	pthread_mutex_unlock(&lock);
	errno = saved;
}

void arena_forked(void)
{
	/* Another thread of the parent may have held the lock. */
	pthread_mutex_init(&lock, NULL);
	copy_moved();
	if (fd_is_still(arena.fd, arena.file))
		real()->close(arena.fd);
	/* The rings stay mapped: the child may still read those of its parent. */
	if (arena.owner)
		real()->munmap(arena.owner, (size_t)softhca_arena_table(PAGES));
	arena.fd = -1;
	arena.owner = NULL;
	arena.tried = arena.enabled = false;
}
