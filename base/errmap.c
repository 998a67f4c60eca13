/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The error map: one row per verb, and the errors that old programs know. */
#include "errmap.h"
#include "log.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct row {
	const char *name;
	enum verb_returns returns;
	/* what the program gets for EOPNOTSUPP; 0: every error is passed on unchanged */
	int unsupported;
};

static const struct row rows[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, returns, unsupported },
	ABI_FUNCTIONS(X)
#undef X
};

/* Old programs know the errors of contract 5, and EIO, which a failed adapter always gave. */
static bool is_known(enum verb verb, int error)
{
	/* fd is not open; the domain does not exist, and no O_CREAT */
	if (error == EBADF || error == EAGAIN)
		return verb == VERB_ibv_open_xrc_domain;
	return error == EINVAL || error == ENOMEM || error == ENOSYS || error == EBUSY ||
	       error == EFAULT || error == ENOSPC || error == EIO;
}

/*
 * Today's kernels have errors that old programs do not know: EAGAIN of control groups, EACCES and
 * EPERM of security modules. Old programs get ENOMEM if something ran out, else EINVAL.
 */
static int known_error(enum verb verb, int error)
{
	static bool warned[VERBS];
	bool ran_out = error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOBUFS ||
		       error == EDQUOT || error == EUSERS || error == ENOLCK;
	int known = ran_out ? ENOMEM : EINVAL;

	log_once(warned[verb], "%s: %s; old programs do not know that error, so this one gets %s",
		 rows[verb].name, strerror(error), ran_out ? "ENOMEM" : "EINVAL");
	return known;
}

int errmap_return(enum verb verb, int err, int saved_errno)
{
	const struct row *row = &rows[verb];
	int error = -err;

	if (!err) {
		errno = saved_errno;
		return 0;
	}
	if (error == EOPNOTSUPP && row->unsupported)
		error = row->unsupported;
	else if (row->unsupported && !is_known(verb, error))
		error = known_error(verb, error);
	errno = error;
	return row->returns == RETURNS_MINUS1 ? -1 : error;
}
