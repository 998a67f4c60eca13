/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The files of a table directory, one after the other. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"

static int visit_file(struct regtab_found *found, int flags,
		      int (*visit)(void *context, struct regtab_found *found, int err),
		      void *context)
{
	int err = regtab_open_found(found, flags), result = 0;

	if (err != -ENOENT)
		result = visit(context, found, err);
	if (!err)
		close(found->fd);
	return result;
}

int regtab_each(const char *dir, int flags,
		int (*visit)(void *context, struct regtab_found *found, int err), void *context)
{
	struct dirent **names;
	int result = 0, count = scandir(dir, &names, regtab_has_name, alphasort);

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		struct regtab_found found = { .fd = -1 };

		snprintf(found.path, sizeof(found.path), "%s/%s", dir, names[i]->d_name);
		if (!result)
			result = visit_file(&found, flags, visit, context);
		free(names[i]);
	}
	free(names);
	return result;
}
