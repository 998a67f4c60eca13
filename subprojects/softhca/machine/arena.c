/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which memory of a client the daemon reaches without system calls. */
#include "arena.h"
#include "hca.h"

#include <proto.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define MAX_PAGES (1u << 20)

static uint64_t file_size(uint64_t pages)
{
	return softhca_arena_table(pages) + pages * SOFTHCA_PAGE;
}

/* Whether @fd is memory that cannot shrink, or run out: that would kill us with SIGBUS. */
static bool is_solid(int fd, uint64_t size)
{
	struct statfs fs;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC)
		return false;
	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= size;
}

bool arena_map(struct arena *arena, int fd, uint64_t pages)
{
	void *file;

	if (fd < 0 || !pages || pages > MAX_PAGES || !is_solid(fd, file_size(pages)))
		return false;
	file = mmap(NULL, (size_t)file_size(pages), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (file == MAP_FAILED)
		return false;
	arena->file = file;
	arena->pages = pages;
	return true;
}

void arena_unmap(struct arena *arena)
{
	if (arena->pages)
		munmap(arena->file, (size_t)file_size(arena->pages));
}

/* Where the range would be in the file, or NULL if the client's table does not name its page. */
static uint8_t *look_up(const struct arena *arena, uint64_t address, uint64_t length)
{
	const uint32_t *owner = (const void *)arena->file;
	uint64_t page, offset;

	if (!arena->pages)
		return NULL;
	page = softhca_arena_page(address, arena->pages);
	offset = page * SOFTHCA_PAGE + address % SOFTHCA_PAGE;
	if (__atomic_load_n(&owner[page], __ATOMIC_RELAXED) !=
		    softhca_arena_owner(address, arena->pages) ||
	    length > arena->pages * SOFTHCA_PAGE - offset)
		return NULL;
	return arena->file + softhca_arena_table(arena->pages) + offset;
}

/* Whether this word is the one at @address. Nothing else uses either while the object is made. */
static bool is_same_word(const struct client *client, uint8_t *here, uint64_t address)
{
	static uint32_t cookie;
	uint32_t *word = (void *)here;
	uint32_t old = *word, there;
	bool same;

	/* A multiplier of 1 modulo 4 and an odd increment: each value comes once in 2^32. */
	cookie = cookie * 1664525 + 1013904223;
	__atomic_store_n(word, cookie, __ATOMIC_SEQ_CST);
	same = !client_read(client, &there, address, sizeof(there)) && there == cookie;
	__atomic_store_n(word, old, __ATOMIC_SEQ_CST);
	return same;
}

void arena_find(const struct hca_context *ctx, struct place *place, uint64_t length)
{
	const uint64_t last = length - sizeof(uint32_t);
	uint8_t *here;

	if (length < sizeof(uint32_t) || (place->address | length) % sizeof(uint32_t))
		return;
	here = look_up(&ctx->arena, place->address, length);
	/* A provider takes a ring in one piece, so its ends tell of all of it. */
	if (here && is_same_word(&ctx->client, here, place->address) &&
	    is_same_word(&ctx->client, here + last, place->address + last))
		place->shared = here;
}
