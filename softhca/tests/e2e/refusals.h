/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The objects on which refusals are tried, and rows of refusals. */
#ifndef TEST_SOFTHCA_REFUSALS_H
#define TEST_SOFTHCA_REFUSALS_H

#include "rig.h"

/* The objects of a row. Each row creates its own. Without XRC the XRC objects are NULL. */
struct objects {
	struct host *host;
	int fd;
	struct ibv_xrcd *xrcd; /* on fd */
	struct ibv_xrcd *private;
	struct ibv_srq *xsrq;
	struct ibv_srq *srq;
	struct ibv_qp *rc, *send, *recv;
};

struct objects objects_create(bool xrc);
/* Destroys all objects. That succeeds only if the row has left nothing behind. */
void objects_destroy(struct objects *g);

/* Errno of a call that returns a pointer, or 0. */
int errno_of_object(const void *object);
/* Errno of a call that returns 0, an errno, or -1 with errno. */
int errno_of_result(int result);

/* How the HCA is set up. */
enum mode { USUAL = 1, STRICT = 2, NO_OPEN_QP = 4, NO_XRC = 8 };
/* real mlx4 differs, see softhca(1); SOFTHCA_TEST_DRIVEN says that it is asked */
#define NOT_DRIVEN 32
#define WITH_XRC  (USUAL | STRICT | NO_OPEN_QP)
#define WITH_OPEN (USUAL | STRICT)
#define ALWAYS	  (WITH_XRC | NO_XRC)

/* A run through the rows that hold in @mode. */
struct refusals {
	enum mode mode;
	int ran, failures;
};

bool refusals_apply(const struct refusals *run, int modes);
void refusals_judge(struct refusals *run, const char *name, int err, int wanted);

/*
 * A row that holds in these modes: @attempt is an expression over the objects @g. Its value is the
 * errno of the call, or 0.
 */
#define ROW(name, modes, wanted, attempt) \
	do { \
		if (refusals_apply(run, modes)) { \
			struct objects created = objects_create(run->mode != NO_XRC); \
			struct objects *g = &created; \
			int err = attempt; \
			objects_destroy(g); \
			refusals_judge(run, name, err, wanted); \
		} \
	} while (0)

void refusals_of_objects(struct refusals *run);

#endif
