/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Rows of what the kernel refuses, and the objects that each row creates. */
#ifndef TEST_SOFTHCA_REFUSALS_H
#define TEST_SOFTHCA_REFUSALS_H

#include "rig.h"

#include <errno.h>
#include <string.h>

/* The objects of a row. Each row creates its own. Without XRC the XRC objects are NULL. */
struct objects {
	struct host *host;
	int fd;
	struct ibv_xrcd *xrcd; /* on fd */
	struct ibv_xrcd *private;
	struct ibv_srq *xsrq; /* with a CQ of its own */
	struct ibv_cq *xcq;
	struct ibv_srq *srq;
	struct ibv_qp *rc, *send, *recv; /* the first is on the SRQ */
};

/* How the HCA is set up. */
enum mode {
	USUAL = 1, STRICT = 2, NO_OPEN_QP = 4, NO_XRC = 8, LIMITED = 16, MEMLOCK = 32,
	NO_MEMLOCK = 64,
};

/* SOFTHCA_TEST_DRIVEN names the real driver that is asked. mlx4 differs: see softhca(1). */
#define NOT_DRIVEN 128
/* The driver changes such a region by work requests (UMR), which the card of its tests lacks. */
#define NOT_MLX5 256
#define WITH_XRC  (USUAL | STRICT | NO_OPEN_QP)
#define WITH_OPEN (USUAL | STRICT)
#define ALWAYS	  (WITH_XRC | NO_XRC)

struct objects objects_create(void);
/* Succeeds only if the row has left nothing behind. */
void objects_destroy(struct objects *g);

/* Errno of a call that returns 0, an errno, or -1 with errno. */
int errno_of_result(int result);

/* Registers memory. Returns 0 and deregisters it, or the errno. */
int region(struct objects *g, void *at, size_t length, unsigned int access);
/* So that the rows "memlock" fit. Limits do not hold for a process with CAP_IPC_LOCK. */
void limit_locked_memory(void);

/*
 * A row that holds in these modes: @attempt is an expression over the objects @g. Its value is the
 * errno of the call, or 0.
 */
#define CALL(name_, modes, wanted, attempt) \
	ROW_NUMBERED(__COUNTER__, .name = name_, .needs = (modes)) \
	{ \
		struct objects created = objects_create(), *g = &created; \
		int err = attempt; \
 \
		objects_destroy(g); \
		if (err != (wanted)) \
			row_fail(__FILE__, __LINE__, "got %s, the kernel has %s", \
				 strerrorname_np(err), strerrorname_np(wanted)); \
	}

#endif
