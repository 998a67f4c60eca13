/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A kernel's XRC domain in one opened device. All the program's handles of one inode share it.
 *
 * The old kernel compared domains by this object, not by handle. So an SRQ that was created through
 * one handle keeps every handle of the same inode busy (contract 5.2).
 */
#ifndef COMPAT_DEVICE_DOMAIN_H
#define COMPAT_DEVICE_DOMAIN_H

#include <base/handle.h>
#include <table/own.h>

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <infiniband/verbs.h>

struct domain;

struct device_domain {
	struct ibv_context *context;
	bool has_inode;		/* false: private, fd was -1; the table does not show it */
	struct regtab_key key;	/* with has_inode: device and inode */
	LIST_HEAD(, domain) domains;	/* the program's handles */
	unsigned srqs;		/* XRC SRQs of this opened device */
	unsigned qps;		/* XRC QPs of this opened device */
	struct handle_map rcv_qps;	/* struct rcv_qp by number: this device's registrations */
	int entry;		/* with has_inode: its entry in the registration table */
	LIST_ENTRY(device_domain) link;
};

LIST_HEAD(device_domain_list, device_domain);

/* The domains of all opened devices. Lock held. */
extern struct device_domain_list device_domains;

/*
 * Returns a new object, which no look-up finds yet. The object has no inode if fd is -1, or
 * if fd is closed, which the kernel will refuse. NULL: no memory. No lock held: asks rdma-core.
 */
struct device_domain *device_domain_new(struct ibv_context *context, int fd);

/*
 * Lets look-ups find the object, and returns it. If the device has an object of this inode, returns
 * that one, and the caller frees its own. Lock held.
 */
struct device_domain *device_domain_add(struct device_domain *added);

/*
 * The caller has removed a handle of the object. If that was the last handle, frees the object.
 * Lock held.
 */
void device_domain_put(struct device_domain *device_domain);

/* Moves the objects of a device to a list, so that no look-up finds them. Lock held. */
void device_domain_take(const struct ibv_context *context, struct device_domain_list *taken);

/* Lets others see the registration table of this process, or warns. No lock held. */
void device_domain_show(void);

#endif
