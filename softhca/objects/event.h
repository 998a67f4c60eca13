/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events: the pipes through which they reach a program, and their number when an object goes. */
#ifndef SOFTHCA_EVENT_H
#define SOFTHCA_EVENT_H

#include <softhca/machine/hca.h>

/* A new pipe; *reader is the client's end, to be sent and closed. NULL with *err = -errno. */
struct hca_channel *channel_new(struct hca_context *ctx, int *reader, int *err);
void channel_free(struct hca_channel *channel);

/* The completion channel of @ctx behind descriptor @fd, or NULL. */
struct hca_channel *channel_find(struct hca_context *ctx, int fd);

/* A CQ uses the channel, or no longer does. A channel that nobody can use any more is freed. */
void channel_hold(struct hca_channel *channel);
void channel_release(struct hca_channel *channel);

void event_completion(struct hca_cq *cq);

/* To every handle of the QP, in every process. */
void event_qp(struct hca_qp *qp, enum ibv_event_type type);
void event_cq(struct hca_cq *cq, enum ibv_event_type type);
void event_srq(struct hca_srq *srq, enum ibv_event_type type);
/* To every context of the device; @port is 0 for IBV_EVENT_DEVICE_FATAL. */
void event_device(struct hca_device *device, enum ibv_event_type type, uint8_t port);

/*
 * An object goes: takes its unread events out of the pipes, so that the program never sees a stale
 * pointer. Returns how many the program has read: libibverbs waits until it has acknowledged as
 * many.
 */
uint32_t event_settle_async(struct hca_context *ctx, uint64_t element, uint32_t written);
uint32_t event_settle_completions(struct hca_cq *cq);

#endif
