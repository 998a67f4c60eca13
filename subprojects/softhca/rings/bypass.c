/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Detects programs whose mmap() no longer reaches our hook. UCX, and with it MPI libraries,
 * overwrites the beginning of mmap() with a jump to its own function, which makes the system call.
 * The kernel then maps the descriptor that stands for the device: it has the doorbell page, but no
 * memory for rings.
 */
#include "bypass.h"

#include <lookup/lookup.h>

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

static char probe; /* its address tells our own call of mmap() from the program's */
static atomic_bool bypassed;
/*
 * Volatile, because glibc declares mmap() a leaf: gcc assumes that the call changes nothing in this
 * file. Initial-exec, because __tls_get_addr would make the library need the loader by name.
 */
static __thread volatile bool seen __attribute__((tls_model("initial-exec")));

bool bypass_is_probe(const void *address, size_t length, int fd)
{
	if (address != &probe || length || fd != -1)
		return false;
	seen = true;
	errno = EINVAL;
	return true;
}

/* Calls mmap() as a program does. The kernel refuses the length 0 if our hook is not reached. */
static bool mmap_reaches_us(void)
{
	int saved = errno;

	seen = false;
	mmap(&probe, 0, PROT_NONE, MAP_PRIVATE, -1, 0);
	errno = saved;
	return seen;
}

bool bypass_detect(void)
{
	if (atomic_load_explicit(&bypassed, memory_order_relaxed))
		return true;
	if (mmap_reaches_us())
		return false;
	atomic_store(&bypassed, true);
	environment_map_no_rings();
	return true;
}
