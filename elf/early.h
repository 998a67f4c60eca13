/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For code of this library that runs before the loader has relocated it.
 *
 * The loader relocates the last library first. If a library behind this one has a resolver (IFUNC)
 * that calls dlsym(), our dlsym runs, and this library is not relocated yet. Such code must not use
 * a function or variable of another library, nor a table that contains addresses.
 */
#ifndef ELF_EARLY_H
#define ELF_EARLY_H

#include <link.h>
#include <stdbool.h>

/** early - true until the loader has relocated this library. */
bool early(void);

/** early_objects - the loader's list of objects, relocated or not. NULL if it cannot be found. */
const struct link_map *early_objects(void);

#endif
