/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What an actor has: contexts, and slots with the objects that it created. */
#ifndef TESTS_E2E_SHIM_STATE_H
#define TESTS_E2E_SHIM_STATE_H

#include <errno.h>
#include <stddef.h>

#include "actor.h"

#define RECV_SLOTS 16
#define MESSAGE_MAX 16384u

struct opened {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *qp_cq;		/* of QPs, both ways */
	struct ibv_cq *srq_cq;		/* of XRC SRQs, with the channel */
	struct ibv_comp_channel *channel;
};

struct actor_state {
	int device;
	struct opened places[PLACES];
	struct ibv_xrc_domain *doms[SLOTS];
	struct ibv_srq *srqs[SLOTS];
	struct ibv_qp *qps[SLOTS];
	char *buffer;			/* MESSAGE_MAX to send from, then RECV_SLOTS of that size */
	struct ibv_mr *mr;
	unsigned posted;
	struct ibv_async_event event;	/* the last one */
	struct ibv_context_ops ops;	/* when the device was opened */
};

/*
 * Returns the contexts there, which are opened on first use. All NULL for NOWHERE, or if the device
 * cannot be opened.
 */
struct opened *place_get(struct actor_state *state, enum place place);

/* Defines do_NAME(). */
#define OPERATION(name) \
	void do_##name(struct actor_state *state __attribute__((unused)), \
		       const struct request *request __attribute__((unused)), \
		       struct result *result __attribute__((unused)))

/*
 * Returns memory of exactly this size, since old structs are shorter than today's: behind it is an
 * unmapped page, before it are bytes that actor_perform() checks. It frees the memory.
 */
void *guarded(size_t size, int fill);

/* The same for an argument that the verb must not change. */
void *guarded_input(const void *from, size_t size);

/* Called before a verb: actor_perform() expects that a verb that fails changes nothing. */
void guards_save(void);

/* Records what a verb returned and left in errno. */
#define CALL(verb) \
	do { \
		guards_save(); \
		errno = ERRNO_MARK; \
		result->ret = (verb); \
		result->err = errno; \
	} while (0)

#define CALL_POINTER(pointer, verb) \
	CALL((pointer = (verb)) ? 0 : errno)

/* A verb that returns -1 with errno. An errno that is returned itself becomes negative. */
#define CALL_MINUS_ONE(verb) \
	do { \
		CALL(verb); \
		result->ret = result->ret == -1 ? result->err : -result->ret; \
	} while (0)

#endif
