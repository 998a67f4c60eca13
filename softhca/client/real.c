// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Finds what this library interposes, in the next library that has it. */
#include "client.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

static struct real_calls calls;
static atomic_bool found;

/* Two threads may do this at once: both store the same values. */
static void find_all(void)
{
	*(void **)&calls.open = dlsym(RTLD_NEXT, "open");
	*(void **)&calls.open64 = dlsym(RTLD_NEXT, "open64");
	*(void **)&calls.close = dlsym(RTLD_NEXT, "close");
	*(void **)&calls.write = dlsym(RTLD_NEXT, "write");
	*(void **)&calls.mmap64 = dlsym(RTLD_NEXT, "mmap64");
	*(void **)&calls.munmap = dlsym(RTLD_NEXT, "munmap");
	*(void **)&calls.socket = dlsym(RTLD_NEXT, "socket");
	*(void **)&calls.stat = dlsym(RTLD_NEXT, "stat");
	*(void **)&calls.stat64 = dlsym(RTLD_NEXT, "stat64");
	*(void **)&calls.lstat = dlsym(RTLD_NEXT, "lstat");
	*(void **)&calls.lstat64 = dlsym(RTLD_NEXT, "lstat64");
	*(void **)&calls.fstat = dlsym(RTLD_NEXT, "fstat");
	*(void **)&calls.fstat64 = dlsym(RTLD_NEXT, "fstat64");
	*(void **)&calls.access = dlsym(RTLD_NEXT, "access");
	*(void **)&calls.fopen = dlsym(RTLD_NEXT, "fopen");
	*(void **)&calls.fopen64 = dlsym(RTLD_NEXT, "fopen64");
	*(void **)&calls.faccessat = dlsym(RTLD_NEXT, "faccessat");
	*(void **)&calls.scandir = dlsym(RTLD_NEXT, "scandir");
	*(void **)&calls.scandir64 = dlsym(RTLD_NEXT, "scandir64");
	*(void **)&calls.chdir = dlsym(RTLD_NEXT, "chdir");
	*(void **)&calls.opendir = dlsym(RTLD_NEXT, "opendir");
	*(void **)&calls.readdir = dlsym(RTLD_NEXT, "readdir");
	*(void **)&calls.readdir64 = dlsym(RTLD_NEXT, "readdir64");
	*(void **)&calls.closedir = dlsym(RTLD_NEXT, "closedir");
}

const struct real_calls *real(void)
{
	int saved = errno;

	if (!atomic_load_explicit(&found, memory_order_acquire)) {
		find_all();
		atomic_store_explicit(&found, true, memory_order_release);
	}
	errno = saved;
	return &calls;
}
