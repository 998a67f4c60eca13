/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's directory: its place, the names of its files, and the adapters in it. */
#ifndef SOFTHCA_DIR_H
#define SOFTHCA_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- the names of its files ---- */

/* The daemon's socket. */
#define SOFTHCA_SOCKET	"socket"
/* The files that stand for those of /sys. */
#define SOFTHCA_SYSFS	"sys"
/* The file in that tree that stands for /proc/modules. */
#define SYSFS_MODULES	"modules"
/* The directory of devices in that tree, whose entries have the names of the files in /dev. */
#define SYSFS_VERBS_CLASS "infiniband_verbs"
#define SYSFS_VERBS "class/" SYSFS_VERBS_CLASS
/* No machine is known to have this PCI domain. UCX reads it as a decimal number. */
#define SYSFS_PCI_ROOT	"pci5000:00"
#define SYSFS_PCI_BUS	"5000:00"
/* Files of /dev/infiniband, and the numbers that Linux gives them. */
#define SOFTHCA_DEV	    "dev"
#define SOFTHCA_VERBS_NODE  "uverbs"
#define SOFTHCA_VERBS_MAJOR 231
#define SOFTHCA_VERBS_MINOR 192
#define SOFTHCA_CM_NODE	    "rdma_cm"
#define SOFTHCA_CM_MAJOR    10
#define SOFTHCA_CM_MINOR    58
/* Links to the libraries of both word sizes, where they are not beside each other. */
#define SOFTHCA_PRELOAD "preload"

/* ---- where it is ---- */

/* A socket's name has 108 bytes on Linux; "/socket" and its end take eight of them. */
#define DIR_MAX 100

/* The user as the kernel knows it: a preloaded libfakeroot changes what the C library tells. */
uid_t dir_user(void);

/*
 * The directory named by SOFTHCA_DIR, else the user's own: softhca in XDG_RUNTIME_DIR, or
 * /tmp/softhca-UID. 0, -EINVAL for a relative SOFTHCA_DIR, or -ENAMETOOLONG when a socket in it
 * could not have a name.
 */
int dir_default(char path[DIR_MAX + 1]);

/* Whether SOFTHCA_DIR names it. */
bool dir_is_chosen(void);

/* The variable to blame when dir_default() fails. */
const char *dir_variable(void);

/* fstatat() of the kernel, which no library replaces. @at is a descriptor. 0 or -errno. */
struct stat64;
int dir_stat(int at, const char *path, struct stat64 *st, int flags);

/* 0 if @path is a directory that belongs to this user alone; -ENOENT, -ENOTDIR or -EPERM if not. */
int dir_check(const char *path);

/* The same for the directory of dir_default(), or its own error. */
int dir_find(char path[DIR_MAX + 1]);

/* Bytes for the name of an adapter. */
#define DIR_ADAPTER 64

/*
 * The number of the adapter that @word names, and its name; -ENOENT if the daemon in @directory has
 * no such adapter. @word may have a hyphen for the underscore, which Open MPI refuses in a host's
 * name.
 */
int dir_adapter(const char *directory, const char *word, char name[DIR_ADAPTER]);

/* @path = @directory/@name; 0 or -ENAMETOOLONG. */
int dir_join(char *path, size_t size, const char *directory, const char *name);

#endif
