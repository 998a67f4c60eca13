/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The directory that the dynamic loader of each word size puts for $LIB in LD_PRELOAD.
 *
 * If the paths of our 32-bit and 64-bit libraries differ only in that directory, one LD_PRELOAD
 * serves programs of both word sizes.
 */
#ifndef SOFTHCA_LIB_DIR_H
#define SOFTHCA_LIB_DIR_H

#include <stdbool.h>
#include <stddef.h>

/* The word size of the running program, and the other one. */
#define OWN_BITS   ((int)sizeof(void *) * 8)
#define OTHER_BITS (OWN_BITS == 64 ? 32 : 64)

/*
 * Gets the loader's value of $LIB in programs of @bits, for example "lib/i386-linux-gnu" or
 * "lib64". Returns 0, or -ENOENT if there is no such loader.
 */
int lib_dir(int bits, char *directory, size_t size);

/* Whether the file is an ELF object of @bits. */
bool lib_dir_fits(const char *path, int bits);

/*
 * Makes the path of a library of OWN_BITS with $LIB in it, for LD_PRELOAD. Returns 0, or -ENOENT if
 * programs of the other word size would not find a library of theirs there.
 */
int lib_dir_setting(const char *path, char *setting, size_t size);

#endif
