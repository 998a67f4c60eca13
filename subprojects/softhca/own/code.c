/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tells in which library's code an address is. */
#include "code.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* Whether the name of this file has @part, whatever the names of its directories are. */
static bool has_in_name(const char *path, const char *part)
{
	const char *slash = strrchr(path, '/');

	return strstr(slash ? slash : path, part);
}

bool is_in_libnl(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname && has_in_name(info.dli_fname, "libnl-");
}

/*
 * mmap() asks for this at each anonymous mapping. It must not wait for the loader's lock: the
 * program's own allocator may call mmap() under a lock that dlopen() in another thread waits for.
 */
static struct code {
	const char *const library;
	atomic_uintptr_t start, end;
} providers[] = {
	[PROVIDER_MLX4] = { .library = "libmlx4" },
	[PROVIDER_MLX5] = { .library = "libmlx5" },
};

/* A library has its code in one segment, and is loaded once. */
static int take_code(struct dl_phdr_info *info, size_t size, void *provider)
{
	struct code *code = provider;

	(void)size;
	if (!has_in_name(info->dlpi_name, code->library))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		atomic_store(&code->start, info->dlpi_addr + segment->p_vaddr);
		atomic_store(&code->end, info->dlpi_addr + segment->p_vaddr + segment->p_memsz);
	}
	return 1;
}

void find_providers(void)
{
	dl_iterate_phdr(take_code, &providers[PROVIDER_MLX4]);
	dl_iterate_phdr(take_code, &providers[PROVIDER_MLX5]);
}

bool is_in_provider(enum provider provider, const void *caller)
{
	struct code *code = &providers[provider];

	return (uintptr_t)caller >= atomic_load(&code->start) &&
	       (uintptr_t)caller < atomic_load(&code->end);
}
