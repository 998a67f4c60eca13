/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An XRC domain: an inode of a device, opened by any number of processes (contract 5.1, 5.2). */
#ifndef COMPAT_DOMAIN_H
#define COMPAT_DOMAIN_H

#include "device_domain.h"

#include <abi/legacy.h>
#include <base/state.h>

/* A handle that the program got from ibv_open_xrc_domain. */
struct domain {
	struct legacy_xrc_domain legacy;	/* first: this is what the program sees */
	struct device_domain *device_domain;
	struct ibv_xrcd *xrcd;
	unsigned users;				/* verbs that use xrcd right now */
	bool closing;
	LIST_ENTRY(domain) link;		/* of device_domain->domains */
};

/*
 * Opens the domain of fd's inode, or with fd -1 a new private one. The file may be closed and
 * unlinked at once: the kernel holds the inode. -errno: contract 5.1.
 */
int domain_open(struct ibv_context *context, int fd, int oflag, struct legacy_xrc_domain **ldom);

/*
 * -EINVAL: not an open domain. -EBUSY: an SRQ or QP of this opened device is in the domain, or
 * receive QPs are still registered through this handle (contract 5.2).
 */
int domain_close(struct legacy_xrc_domain *ldom);

/*
 * Uses a domain for a verb: it stays open until domain_leave(). Returns NULL if ldom is not an open
 * domain, or not one of context (NULL: any). Lock held.
 */
struct domain *domain_enter(const struct legacy_xrc_domain *ldom,
			    const struct ibv_context *context);
void domain_leave(struct domain *domain);

/* domain_enter() and domain_leave() for callers without the lock. domain_release() accepts NULL. */
struct domain *domain_hold(const struct legacy_xrc_domain *ldom, const struct ibv_context *context);
void domain_release(struct domain *domain);

/* The kernel's domain behind a handle. NULL: the handle is not open. */
struct ibv_xrcd *domain_xrcd(const struct legacy_xrc_domain *ldom);
/* An open handle of a kernel's domain, or NULL. */
struct legacy_xrc_domain *domain_of_xrcd(const struct ibv_xrcd *xrcd);

/*
 * The program closes the device. domain_take() moves the device's domains to a list, so that no
 * call finds them, and waits until no verb uses them. Lock held. domain_end() closes and frees the
 * handles of a domain in that list. No lock held.
 */
void domain_take(const struct ibv_context *context, struct device_domain_list *taken);
void domain_end(struct device_domain *device_domain);

#endif
