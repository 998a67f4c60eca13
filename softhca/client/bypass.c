/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Programs that map memory without us. UCX, and with it MPI libraries, overwrite the beginning of
 * mmap() with a jump to their own function, which makes the system call itself. Their mappings
 * reach the descriptor that stands for the device. That has a doorbell page, but no memory for
 * rings.
 */
#include "client.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

static char question; /* its address is what makes the call a question */
static atomic_bool bypassed;
/*
 * Volatile, because glibc declares mmap() a leaf: gcc takes it that the call changes nothing in
 * this file. Initial-exec, because __tls_get_addr would make the library need the loader by name
 * (elf/early.c).
 */
static __thread volatile bool answered __attribute__((tls_model("initial-exec")));

bool bypass_question(const void *address, size_t length, int fd)
{
	if (address != &question || length || fd != -1)
		return false;
	answered = true;
	errno = EINVAL;
	return true;
}

/* As a program calls it. If it does not come to us, the kernel refuses the empty range. */
static bool comes_to_us(void)
{
	int saved = errno;

	answered = false;
	mmap(&question, 0, PROT_NONE, MAP_PRIVATE, -1, 0);
	errno = saved;
	return answered;
}

bool bypass_none(void)
{
	if (atomic_load_explicit(&bypassed, memory_order_relaxed))
		return false;
	if (comes_to_us())
		return true;
	atomic_store(&bypassed, true);
	arena_enable(false);
	place_map_rings(false);
	return false;
}
