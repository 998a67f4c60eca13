/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The device tree in which libibverbs finds the emulated devices. */
#ifndef SOFTHCA_SYSFS_H
#define SOFTHCA_SYSFS_H

#include <softhca/machine/hca.h>

/* Writes the tree below @root, which exists. 0 or -errno. */
int sysfs_create(const struct hca_machine *machine, const char *root);

#endif
