/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The error map: one row per exported function, and the errors that old programs know. */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "errmap.h"
#include "log.h"

struct row {
	const char *name;
	enum verb_returns returns;
	int unsupported;	/* errno of the program for rdma-core's EOPNOTSUPP */
};

static const struct row rows[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, returns, unsupported },
	ABI_FUNCTIONS(X)
#undef X
};

/* These return rdma-core's errors: verbs that are passed on, and functions for today's programs. */
static bool is_todays(enum verb verb)
{
	switch (verb) {
	case VERB_ibv_get_async_event:
	case VERB_ibv_ack_async_event:
	case VERB_ibv_close_device:
	case VERB_rdma_create_qp:
	case VERB_rdma_create_qp_ex:
	case VERB_xrc_compat_xrcd:
	case VERB_xrc_compat_domain:
	case VERB_xrc_compat_srq:
	case VERB_xrc_compat_legacy_srq:
	case VERB_xrc_compat_rcv_qp:
	case VERB_xrc_compat_target_qp:
		return true;
	default:
		return false;
	}
}

/* The errors of contract 5, and EIO, which an adapter that has failed always gave. */
static bool is_known(enum verb verb, int error)
{
	switch (error) {
	case EINVAL:
	case ENOMEM:
	case ENOSYS:
	case EOPNOTSUPP:
	case EBUSY:
	case EFAULT:
	case ENOSPC:
	case EIO:
		return true;
	case EBADF:	/* fd is not open */
	case EAGAIN:	/* the domain does not exist, and no O_CREAT */
		return verb == VERB_ibv_open_xrc_domain;
	default:
		return false;
	}
}

/*
 * Today's kernels have errors that old programs do not know: EAGAIN of control groups, EACCES and
 * EPERM of security modules. Old programs get ENOMEM if something ran out, else EINVAL.
 */
static int known_error(enum verb verb, int error)
{
	static bool warned[VERBS];
	int known = EINVAL;

	switch (error) {
	case EAGAIN:
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case EDQUOT:
	case EUSERS:
	case ENOLCK:
		known = ENOMEM;
	}
	log_once(warned[verb], "%s: %s; old programs do not know that error, so this one gets %s",
		 rows[verb].name, strerror(error), known == ENOMEM ? "ENOMEM" : "EINVAL");
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
	if (error == EOPNOTSUPP)
		error = row->unsupported;
	if (!is_todays(verb) && !is_known(verb, error))
		error = known_error(verb, error);
	errno = error;
	return row->returns == RETURNS_MINUS1 ? -1 : error;
}
