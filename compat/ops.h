/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ops table of an opened device: what the provider had there before a slot was hooked.
 *
 * ibv_post_srq_recv and ibv_poll_cq were inline in old headers and call the slots of the ops table
 * in the context. The library hooks post_srq_recv on devices with SRQ images and poll_cq on devices
 * of two-way programs. Every other slot stays the provider's.
 */
#ifndef COMPAT_OPS_H
#define COMPAT_OPS_H

#include <two_way/qp_numbers.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <infiniband/verbs.h>

typedef int (*post_srq_recv_fn)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
				struct ibv_recv_wr **bad_wr);
typedef int (*poll_cq_fn)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/* A device with hooked slots. It is never freed: the data path reads it without a lock. */
struct ops_device {
	const struct ibv_context *_Atomic context;	/* NULL: closed, free for the next */
	post_srq_recv_fn post_srq_recv;
	poll_cq_fn poll_cq;
	const struct qp_numbers *numbers; /* stored before poll_cq is hooked; NULL: it is not */
	bool posts_hooked;
	struct ops_device *next;
};

extern struct ops_device *_Atomic ops_devices;

/* Returns the device if a slot of it is hooked, else NULL. On the data path: no lock. */
static inline struct ops_device *ops_find(const struct ibv_context *context)
{
	struct ops_device *device = atomic_load_explicit(&ops_devices, memory_order_acquire);

	while (device && atomic_load_explicit(&device->context, memory_order_acquire) != context)
		device = device->next;
	return device;
}

/* Returns the provider's own function, hooked or not. */
post_srq_recv_fn ops_provider_post_srq_recv(const struct ibv_context *context);

/*
 * Each puts a hook into its slot, once for a device: softhca may put its own function in place of
 * the hook, so the slot does not tell whether it is hooked. Returns 0 or -ENOMEM.
 */
int ops_hook_post_srq_recv(struct ibv_context *context, post_srq_recv_fn hook);
int ops_hook_poll_cq(struct ibv_context *context, poll_cq_fn hook);

/* The device is closed; another device may get its memory. Lock held. */
void ops_forget_context(const struct ibv_context *context);

#endif
