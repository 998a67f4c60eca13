/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The loader's own dlsym and dlvsym, which the shim stands in front of.
 *
 * Found without them: in the first object behind ours that defines the name, be it libc, libdl or another interposer.
 */
#ifndef ELF_LOADER_H
#define ELF_LOADER_H

#include <stdbool.h>

typedef void *(*loader_dlsym_fn)(void *handle, const char *name);
typedef void *(*loader_dlvsym_fn)(void *handle, const char *name, const char *version);

/** The functions, NULL if there are none behind us. No lock and no memory of ours; callable at any moment (early.h). */
loader_dlsym_fn loader_dlsym(void);
loader_dlvsym_fn loader_dlvsym(void);

/**
 * loader_finds_in_libibverbs - whether a verb that is looked up on a dlopen handle is that of libibverbs.so.1, or would be if it
 * had it: the handle is its own, or that of a plugin that was linked with it. handle: as dlsym takes it.
 */
bool loader_finds_in_libibverbs(void *handle, const char *verb);

#endif
