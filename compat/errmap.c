/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The error map: one row per exported function. */

#include <errno.h>

#include "errmap.h"

struct row {
	const char *name;
	enum verb_returns returns;
	int unsupported;	/* what the caller reads for rdma-core's EOPNOTSUPP */
};

static const struct row rows[VERBS] = {
#define X(function, returns, unsupported, arguments, port) [VERB_##function] = { #function, returns, unsupported },
	ABI_FUNCTIONS(X)
#undef X
};

int errmap_return(enum verb verb, int status, int saved_errno)
{
	const struct row *row = &rows[verb];
	int error = -status;

	if (!status) {
		errno = saved_errno;
		return 0;
	}
	if (error == EOPNOTSUPP)
		error = row->unsupported;
	errno = error;
	return row->returns == RETURNS_MINUS1 ? -1 : error;
}

const char *errmap_verb_name(enum verb verb)
{
	return rows[verb].name;
}
