/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What an opened device keeps for others in one domain, as the files of this room share it. */
#ifndef COMPAT_OWNER_KEEP_H
#define COMPAT_OWNER_KEEP_H

#include <compat/domain/domain.h>
#include <compat/domain/keeper.h>
#include <compat/rcv_qp/rcv_qp_internal.h>

#include "owner.h"

/** struct kept - from the first QP made on such a device to the end of the core. */
struct kept {
	struct handle_map qps;		/* struct rcv_qp by number: not ours any more, kept for other processes */
	unsigned count;
	LIST_HEAD(, domain) abandoned;	/* closed by the application, kept open for those */
	pthread_mutex_t starting;
	struct owner *owner;		/* NULL: nobody else can ask, the domain is private */
	pthread_t server;
};

/** orphan_end - from the serving thread: end a core that nothing is needed of any more. True: it is gone. */
bool orphan_end(struct core *core);

#endif
