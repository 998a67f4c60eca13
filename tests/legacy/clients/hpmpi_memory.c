/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * malloc, free, mmap and munmap of the program, as HP-MPI has them: free and munmap end the
 * registrations of their memory.
 */
#undef _FILE_OFFSET_BITS	/* with which the function below would not be mmap() */

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hpmpi_memory.h"
#include "job.h"

#define PINNED 4

static struct pinned {
	struct ibv_mr *mr;
	deregister_t *deregister;
} pinned[PINNED];

void *__libc_malloc(size_t size);
void __libc_free(void *memory);

/* The verb calls free() in turn. */
static void unpin(struct pinned *place)
{
	struct ibv_mr *mr = place->mr;

	place->mr = NULL;
	must_be_0(place->deregister(mr), "ibv_dereg_mr");
}

static int overlaps(const struct ibv_mr *mr, const char *address, size_t size)
{
	return mr && address < (char *)mr->addr + mr->length && (char *)mr->addr < address + size;
}

static void forget(const char *address, size_t size)
{
	int i;

	for (i = 0; i < PINNED; i++)
		if (overlaps(pinned[i].mr, address, size))
			unpin(&pinned[i]);
}

void *malloc(size_t size)
{
	return __libc_malloc(size);
}

void free(void *memory)
{
	if (memory)
		forget(memory, malloc_usable_size(memory));
	__libc_free(memory);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
#ifdef SYS_mmap2
	return (void *)syscall(SYS_mmap2, address, size, protection, flags, fd, offset / 4096);
#else
	return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
#endif
}

int munmap(void *address, size_t size)
{
	forget(address, size);
	return (int)syscall(SYS_munmap, address, size);
}

void pin(struct ibv_mr *mr, deregister_t *deregister)
{
	struct pinned *place = pinned;

	while (place < pinned + PINNED && place->mr)
		place++;
	if (place == pinned + PINNED)
		job_die("memory went, and neither free() nor munmap() of the program was called");
	*place = (struct pinned){ mr, deregister };
}
