/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The files of a table directory, one after the other. */
#ifndef TOOLS_TABLES_FILES_H
#define TOOLS_TABLES_FILES_H

#include <compat/regtab_file.h>

/**
 * regtab_each - call back for every file with a name of ours, by name, open with flags, or refused
 * with err. A result other than 0 ends the walk and is returned. -errno: the directory.
 */
int regtab_each(const char *dir, int flags,
		int (*visit)(void *context, struct regtab_found *found, int err), void *context);

#endif
