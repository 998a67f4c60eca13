/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What an actor has: contexts, and slots with the objects that it created. */
#ifndef TESTS_E2E_SHIM_STATE_H
#define TESTS_E2E_SHIM_STATE_H

#include <errno.h>
#include <stddef.h>

#include "request.h"

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
	struct ibv_context_ops ops;	/* as remembered */
};

/**
 * place_get - the context there, which is opened on first use. NULL for NOWHERE, or if it cannot be
 * opened.
 */
struct opened *place_get(struct actor_state *state, enum place place);

/** wild_pointer - an address that no object has; reading there crashes. */
void *wild_pointer(void);

struct ibv_xrc_domain *dom_argument(const struct actor_state *state, int dom);

/**
 * guarded_new - memory of exactly this size, since old structs are shorter than today's: behind it
 * is an unmapped page, before it are bytes that guarded_free() checks.
 */
void *guarded_new(size_t size, int fill);

/** guarded_free - false if something was written before it. */
bool guarded_free(void *memory, size_t size);

/*
 * Record what a verb returned and left in errno. Nothing that may change errno can come in between.
 */
static inline void returned(struct result *result, int ret)
{
	result->err = errno;
	result->ret = ret;
}

static inline void returned_pointer(struct result *result, const void *pointer)
{
	result->err = errno;
	result->ret = pointer ? 0 : result->err;
}

/* For verbs that return -1 with errno. An errno that is returned itself becomes negative. */
static inline void returned_minus_one(struct result *result, int ret)
{
	result->err = errno;
	result->ret = ret == -1 ? result->err : -ret;
}

static inline void fact(struct result *result, unsigned which, bool holds)
{
	if (holds)
		result->facts |= which;
	else
		result->facts &= ~which;
}

/** intact - records whether the verb wrote only what it may. A row expects that of every result. */
static inline void intact(struct result *result, bool holds)
{
	if (!holds)
		result->facts &= ~(unsigned)REST_INTACT;
}

#endif
