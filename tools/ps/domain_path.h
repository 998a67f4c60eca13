/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The file of a domain, found through the processes that have it open. */
#ifndef XRC_COMPAT_TOOLS_DOMAIN_PATH_H
#define XRC_COMPAT_TOOLS_DOMAIN_PATH_H

#include "tools/tables/view.h"

#include <limits.h>
#include <stdbool.h>

/*
 * @path: PATH_MAX bytes. False when no process of the table that we may look into has the file open
 * any more.
 */
bool domain_path_find(const struct regtab_view *view, char *path);

#endif
