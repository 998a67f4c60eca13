/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The loader's own dlsym and dlvsym, which the shim interposes, and the blocking of signals.
 *
 * The first object behind this library that defines them counts: libc, libdl or another interposer.
 * If a plugin brought this library, libc is not behind it. Then the first object of all counts.
 */
#ifndef ELF_LOADER_H
#define ELF_LOADER_H

#include <signal.h>

typedef void *(*loader_dlsym_fn)(void *handle, const char *name);
typedef void *(*loader_dlvsym_fn)(void *handle, const char *name, const char *version);

/*
 * Each returns the function, or NULL if no object has it. They take no lock, allocate nothing, and
 * may run before any constructor.
 */
loader_dlsym_fn loader_dlsym(void);
loader_dlvsym_fn loader_dlvsym(void);

/*
 * The loader has a lock, which stays taken if a signal handler leaves it by siglongjmp(3). So verbs
 * that ask the loader block all signals meanwhile.
 */
void loader_hold_signals(sigset_t *before);
void loader_release_signals(const sigset_t *before);

#endif
