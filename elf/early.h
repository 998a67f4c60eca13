/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For code of this library that runs before the loader has relocated it.
 *
 * The loader relocates the last library first. A library behind ours may have a resolver (IFUNC) that calls dlsym. That is our
 * dlsym, and our library is not relocated yet: no function or variable of another library may be used, and no table with
 * addresses in it.
 */
#ifndef ELF_EARLY_H
#define ELF_EARLY_H

#include <link.h>
#include <stdbool.h>

/** early - whether that is so. */
bool early(void);

/** early_objects - the loader's list of objects, at any moment. NULL if there is no way to it. */
const struct link_map *early_objects(void);

#endif
