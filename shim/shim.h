/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A verb enters, calls compat/ or modern/, and leaves with the legacy error. A call that is passed
 * on to libibverbs does not enter, nor does ibv_get_async_event (event.c).
 */
#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H

#include <abi/export.h>
#include <abi/legacy.h>
#include <abi/verb.h>
#include <base/cancel.h>
#include <base/errmap.h>
#include <two_way/program.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#define unlikely(x) __builtin_expect(!!(x), 0)

/* A call of an exported function, from shim_enter() to one of the functions that leave. */
struct entry {
	enum verb verb;
	int saved_errno;
	struct cancel_hold hold;
	void *traced;	/* from the tracer; NULL: this call is not traced */
};

/* The arguments of a call as an array of words, for the trace; up to five. Zeros follow them. */
#define ARGUMENTS(...) WORDS(__VA_ARGS__, 0, 0, 0, 0, 0)
#define WORDS(a, b, c, d, e, ...) \
	((const uintptr_t[]){ (uintptr_t)(a), (uintptr_t)(b), (uintptr_t)(c), (uintptr_t)(d), \
			      (uintptr_t)(e) })

/*
 * A verb that is not passed on begins with it. The first call prints the banner: a constructor
 * would do that in every process of a job, because the preload is set for all of them. Returns 0,
 * or -ENOSYS if there is no libibverbs. A caller with an SRQ image or an XRC QP knows that it is 0.
 *
 * From here on the thread cannot be cancelled: libibverbs' write(2) is a cancellation point, and a
 * thread that ended there would never release our locks and counts.
 *
 * @arguments: ARGUMENTS() of those that abi/symbols.tab names; NULL if it names none
 */
int shim_enter(struct entry *entry, enum verb verb, const uintptr_t *arguments);

extern atomic_bool shim_begun;
bool shim_begin(void);

/*
 * Finds the program's libibverbs for a call that is passed on without shim_enter(). False: there is
 * none, and the verb ends with shim_refuse(). Cancellation and errno stay as they are.
 */
static inline bool shim_is_ready(void)
{
	return atomic_load_explicit(&shim_begun, memory_order_acquire) || shim_begin();
}

/* Returns what the verb returns if there is no libibverbs, with errno set to match. */
static inline int shim_refuse(enum verb verb)
{
	return errmap_return(verb, -ENOSYS, errno);
}

/*
 * For the part of a verb that only programs with XRC need. If it were inlined, other programs would
 * pay for a frame on the stack. The first verb of every program comes there, too.
 */
#define NOT_ORDINARY __attribute__((noinline))

/*
 * Returns what the verb returns for err (0 or -errno), with errno set to match. Restores
 * cancellation.
 */
int shim_leave(const struct entry *entry, int err);

/* As shim_leave(), for a verb that returns an object: @made, which is NULL if err is not 0. */
void *shim_leave_made(const struct entry *entry, int err, void *made);

/*
 * Leaves before the call is passed on to the real function: errno and cancellation are as before
 * shim_enter().
 */
void shim_pass(const struct entry *entry);

/*
 * The hooks: post_srq_recv of a device with images, poll_cq of a device of a two-way program.
 */
int shim_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int shim_poll_cq_tagged(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int shim_poll_cq_untagged(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/* Hooks poll_cq of a device of a two-way program. Returns 0 or -ENOMEM. */
int shim_hook_poll_cq(struct ibv_context *context);

/*
 * Returns the attributes that the program passed to rdma_create_qp, while it creates an old XRC QP;
 * else NULL. librdmacm passes a copy to ibv_create_qp that ends before the domain.
 */
const struct legacy_qp_init_attr *shim_rdmacm_attr(void);

/*
 * Last, because it renames the exported functions to shim_...: no header after it may declare them.
 */
#include <abi/shim_names.h>

#endif
