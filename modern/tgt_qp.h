/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Opened handles: on a target QP that another process, or opened device, has created.
 *
 * A provider's ibv_open_qp allocates a struct and gives the kernel's command to open. The library
 * gives that command itself, for a struct of its own, so that no provider ever sees an opened
 * handle. libmlx5 would crash on one: in ibv_destroy_qp from release 40 on, in ibv_modify_qp to
 * RESET from release 26 on.
 */
#ifndef MODERN_TGT_QP_H
#define MODERN_TGT_QP_H

#include <stdbool.h>
#include <infiniband/verbs.h>

/*
 * For functions that read the QP of an event. The kernel orders them behind the thread that created
 * the QP. ThreadSanitizer cannot see that order.
 */
#define ORDERED_BY_KERNEL __attribute__((no_sanitize("thread")))

/* Whether qp is an opened handle of ours. qp may be any QP. */
bool tgt_qp_is_opened(const struct ibv_qp *qp);

/* Destroys an opened handle, and frees it. Returns what the verb does. */
int opened_qp_destroy(struct ibv_qp *qp);

/*
 * Waits until the handle is filled in. The kernel may raise an event on the handle before that.
 * Such an event must not be acknowledged earlier, because filling in the handle sets the count of
 * acknowledgements to 0.
 */
void opened_qp_await_open(const struct ibv_qp *qp);

#endif
