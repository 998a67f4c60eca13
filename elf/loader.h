/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The loader's own dlsym and dlvsym, which the shim interposes.
 *
 * They are those of the first object behind this library that defines the name: libc, libdl or
 * another interposer. If none does, because a plugin brought this library, those of the first
 * object of all.
 */
#ifndef ELF_LOADER_H
#define ELF_LOADER_H

#include <stdbool.h>

typedef void *(*loader_dlsym_fn)(void *handle, const char *name);
typedef void *(*loader_dlvsym_fn)(void *handle, const char *name, const char *version);

/**
 * The functions, NULL if no object has them. Take no lock, allocate nothing, work at any
 * moment (early.h).
 */
loader_dlsym_fn loader_dlsym(void);
loader_dlvsym_fn loader_dlvsym(void);

/**
 * loader_finds_in_libibverbs - whether dlsym() on this handle looks for the verb in
 * libibverbs.so.1: the handle is that of libibverbs itself, or of a plugin that was linked with it.
 * @handle: any that dlsym accepts.
 */
bool loader_finds_in_libibverbs(void *handle, const char *verb);

#endif
