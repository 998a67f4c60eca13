/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC domains: each is a device and an inode. Its SRQs and QPs keep it busy. */
#include "domain.h"

#include <base/summary.h>
#include <modern/modern.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

static PER_PROCESS struct handle_map domains;

/* ---- opening ---- */

/*
 * Another thread may close the domain at any time, by a stale pointer. So enter the domain here;
 * domain_open() leaves it.
 */
static int publish(struct domain *domain)
{
	struct device_domain *created = domain->device_domain, *used = created;
	int err;

	state_lock();
	err = handle_set(&domains, domain, domain);
	if (!err) {
		used = device_domain_add(created);
		LIST_INSERT_HEAD(&used->domains, domain, link);
		domain->device_domain = used;
		domain->users = 1;
	}
	state_unlock();
	if (used != created)
		free(created);
	return err;
}

int domain_open(struct ibv_context *context, int fd, int oflag, struct legacy_xrc_domain **ldom)
{
	struct domain *domain;
	int err;

	if (!context)
		return -EINVAL;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return -ENOMEM;
	domain->legacy.context = context;
	domain->device_domain = device_domain_new(context, fd);
	err = domain->device_domain ? modern_open_xrcd(context, fd, oflag, &domain->xrcd) : -ENOMEM;
	/*
	 * The rdma control group gives EAGAIN, too. An old program retries EAGAIN while another
	 * process creates the domain, so it must get ENOMEM here.
	 */
	if (err == -EAGAIN && (fd == -1 || oflag & O_CREAT))
		err = -ENOMEM;
	if (err)
		goto free_domain;
	err = publish(domain);
	if (err)
		goto close_xrcd;
	summary_add(SUMMARY_DOMAINS);
	device_domain_show();
	*ldom = &domain->legacy;
	domain_release(domain);
	return 0;

close_xrcd:
	modern_close_xrcd(domain->xrcd);
free_domain:
	free(domain->device_domain);
	free(domain);
	return err;
}

/* ---- closing ---- */

/*
 * Waits while another thread closes the domain, because the kernel may refuse that. NULL: no open
 * domain. Lock held.
 */
static struct domain *find_open(const struct legacy_xrc_domain *ldom)
{
	struct domain *domain;

	while ((domain = handle_find(&domains, ldom)) && domain->closing)
		state_wait();
	return domain;
}

/* -EINVAL if domain is NULL. Lock held. */
static int begin_close(struct domain *domain)
{
	if (!domain)
		return -EINVAL;
	domain->closing = true;
	while (domain->users)
		state_wait();
	/*
	 * Registrations are not counted here: the kernel refuses (EBUSY) to close the handle
	 * through which one was made.
	 */
	if (!domain->device_domain->srqs && !domain->device_domain->qps)
		return 0;
	domain->closing = false;
	state_changed();
	return -EBUSY;
}

static int end_close(struct domain *domain)
{
	int err = modern_close_xrcd(domain->xrcd);

	state_lock();
	domain->closing = false;
	if (!err) {
		handle_remove(&domains, domain, domain);
		LIST_REMOVE(domain, link);
		device_domain_put(domain->device_domain);
		free(domain);
	}
	state_changed();
	state_unlock();
	return err;
}

int domain_close(struct legacy_xrc_domain *ldom)
{
	struct domain *domain;
	int err;

	state_lock();
	domain = find_open(ldom);
	err = begin_close(domain);
	state_unlock();
	return err ? err : end_close(domain);
}

/* ---- using ---- */

struct domain *domain_enter(const struct legacy_xrc_domain *ldom, const struct ibv_context *context)
{
	struct domain *domain = find_open(ldom);

	if (!domain || (context && domain->legacy.context != context))
		return NULL;
	domain->users++;
	return domain;
}

void domain_leave(struct domain *domain)
{
	domain->users--;
	state_changed();
}

struct domain *domain_hold(const struct legacy_xrc_domain *ldom, const struct ibv_context *context)
{
	struct domain *domain;

	state_lock();
	domain = domain_enter(ldom, context);
	state_unlock();
	return domain;
}

void domain_release(struct domain *domain)
{
	if (!domain)
		return;
	state_lock();
	domain_leave(domain);
	state_unlock();
}

struct ibv_xrcd *domain_xrcd(const struct legacy_xrc_domain *ldom)
{
	const struct domain *domain;
	struct ibv_xrcd *xrcd;

	state_lock();
	domain = handle_find(&domains, ldom);
	xrcd = domain ? domain->xrcd : NULL;
	state_unlock();
	return xrcd;
}

struct legacy_xrc_domain *domain_of_xrcd(const struct ibv_xrcd *xrcd)
{
	struct legacy_xrc_domain *found = NULL;

	state_lock();
	HANDLE_EACH(mapping, &domains) {
		struct domain *domain = mapping->object;

		if (domain->xrcd == xrcd)
			found = &domain->legacy;
	}
	state_unlock();
	return found;
}

/* ---- the end of a device ---- */

/* Whether another thread is closing a domain of the device. */
static bool is_closing_any(const struct ibv_context *context)
{
	bool closing = false;

	HANDLE_EACH(mapping, &domains) {
		const struct domain *domain = mapping->object;

		closing |= domain->legacy.context == context && domain->closing;
	}
	return closing;
}

void domain_take(const struct ibv_context *context, struct device_domain_list *taken)
{
	struct device_domain *device_domain;
	struct domain *domain;

	while (is_closing_any(context))
		state_wait();
	device_domain_take(context, taken);
	LIST_FOREACH(device_domain, taken, link)
		LIST_FOREACH(domain, &device_domain->domains, link)
			handle_remove(&domains, domain, domain);
	LIST_FOREACH(device_domain, taken, link)
		LIST_FOREACH(domain, &device_domain->domains, link)
			while (domain->users)
				state_wait();
}

void domain_end(struct device_domain *device_domain)
{
	struct domain *domain;

	while ((domain = LIST_FIRST(&device_domain->domains))) {
		LIST_REMOVE(domain, link);
		modern_close_xrcd(domain->xrcd);
		free(domain);
	}
}
