/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The device tree of the emulated machine, which programs see as /sys. */
#ifndef SOFTHCA_SERVER_TREE_H
#define SOFTHCA_SERVER_TREE_H

#include <machine/hca.h>

#include <limits.h>
#include <stdbool.h>

/* The root of the tree, and the first error. After an error the functions do nothing. */
struct tree {
	const char *root;
	bool again; /* programs may read the files already, and must not find one empty */
	int err;
};

/* The path of @name in @dir; both may have several parts. Makes the directories on the way. */
void tree_path(struct tree *tree, const char *dir, const char *name, char path[PATH_MAX]);
void tree_directory(struct tree *tree, const char *dir);
/* A file with one line. */
__attribute__((format(printf, 4, 5))) void tree_attr(struct tree *tree, const char *dir,
						     const char *name, const char *format, ...);
/* A symbolic link; a relative @target is relative to @dir. */
void tree_link(struct tree *tree, const char *dir, const char *name, const char *target);

/* ---- the kernel modules, of which @driver has some (modules.c) ---- */

/* What stands for /proc/modules, with the lines of this machine's own, and /sys/module. */
void modules_create(struct tree *tree, const char *driver);

/* ---- the PCI devices of the adapters (pci.c) ---- */

/* Comes first: the other files of an adapter are written through the links in /sys/class. */
void pci_device(struct tree *tree, const struct hca_device *device, const char *driver);
/*
 * The directory KIND/NAME of the PCI device, to which /sys/class/KIND/NAME leads. @kind is
 * infiniband, infiniband_verbs or net.
 */
void pci_class(struct tree *tree, const struct hca_device *device, const char *kind,
	       const char *name);
/* The list of PCI devices with those of this machine, and the bus. */
void pci_bus(struct tree *tree);

#endif
