/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The process's own list of tables, empty after fork. */

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "registry.h"

static struct registry *the_registry;

/* Older kernels (before 4.14) cannot wipe: there a fork handler does, which a bare clone() escapes. */
static void wipe(void)
{
	*the_registry = (struct registry){ 0 };
}

static struct registry *make_registry(void)
{
	struct registry *none = NULL, *made;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	bool wiped;

	made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	wiped = !madvise(made, size, MADV_WIPEONFORK);
	if (!__atomic_compare_exchange_n(&the_registry, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		munmap(made, size);	/* another thread was faster */
		return none;
	}
	if (!wiped)
		pthread_atfork(NULL, NULL, wipe);
	return made;
}

struct registry *regtab_registry_lock(void)
{
	static uint32_t processes;	/* a child continues its parent's count, so their numbers differ */
	struct registry *registry = __atomic_load_n(&the_registry, __ATOMIC_ACQUIRE);

	if (!registry)
		registry = make_registry();
	if (!registry)
		return NULL;
	pthread_mutex_lock(&registry->mutex);
	if (!registry->process)
		__atomic_store_n(&registry->process, ++processes, __ATOMIC_RELEASE);
	return registry;
}

void regtab_registry_unlock(struct registry *registry)
{
	pthread_mutex_unlock(&registry->mutex);
}

uint32_t regtab_process(void)
{
	struct registry *registry = __atomic_load_n(&the_registry, __ATOMIC_ACQUIRE);

	return registry ? __atomic_load_n(&registry->process, __ATOMIC_ACQUIRE) : 0;
}
