/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Where a program looks for devices, and which it finds there. */
#ifndef SOFTHCA_LOOKUP_H
#define SOFTHCA_LOOKUP_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- where the emulated machine is (place.c) ---- */

/* The daemon's directory, or NULL if there is none or it may not be trusted. */
const char *place_dir(void);

/* Says once on stderr why place_dir() is NULL. For programs that look for adapters. */
void place_explain(void);

/* @path as it is in the emulated machine: @buffer when it is redirected, else @path itself. */
const char *place_redirect(const char *path, char *buffer, size_t size);

/* Whether @path names something in the daemon's directory. */
bool place_is_inside(const char *path);

/* Changes the path of a file in the daemon's tree to what it is in the emulated machine. */
void place_show(char *path);

/*
 * A file of device @index that all programs share, opened for reading; -1 with errno. The program
 * has opened the device, so place_dir() is not NULL.
 */
int place_open_device(unsigned int index);

/* True for the directory in which libibverbs looks for devices. */
bool place_is_device_list(const char *path);

/* ---- the program's environment (environment.c) ---- */

/* From now on libmlx5 maps no rings from the device. */
void environment_map_no_rings(void);

/* ---- devices in the order of their numbers (order.c) ---- */

/* @dir is the directory of devices, just opened. */
void order_opened(DIR *dir);
/* Its next entry, or NULL at the end. *ours = false: @dir is another one, or has no slot. */
struct dirent *order_next(DIR *dir, bool *ours);
struct dirent64 *order_next64(DIR *dir, bool *ours);
void order_rewound(DIR *dir);
void order_closed(DIR *dir);

/* ---- the program's host (host.c) ---- */

/* The adapter that SOFTHCA_HOST names, or SOFTHCA_EVERY_HOST. 0, or -EINVAL after a message. */
int host_index(uint32_t *host);

/* Whether the program's host has this entry of the directory of devices. */
bool host_has(const char *entry);

/*
 * SOFTHCA_HOST=ADAPTER by the rank in an MPI job, if SOFTHCA_HOSTS is set and SOFTHCA_HOST is not;
 * or NULL.
 */
char *host_by_rank(void);

#endif
