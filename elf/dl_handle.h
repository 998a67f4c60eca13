/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Handles of dlopen(). */
#ifndef ELF_DL_HANDLE_H
#define ELF_DL_HANDLE_H

#include <stdbool.h>

/*
 * Whether dlsym() on this handle searches libibverbs.so.1 for a verb. It does so on the handle of
 * libibverbs itself, and on that of a plugin linked with it. False for the program's own handle.
 * @handle: any that dlsym() accepts
 */
bool dl_handle_finds_libibverbs(void *handle, const char *verb);

#endif
