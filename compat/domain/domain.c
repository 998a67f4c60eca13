/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC domains: identity is device plus inode; what the kernel once counted against closing is counted here. */

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <modern/modern.h>

#include <compat/base/handle.h>

#include "domain.h"

static struct handle_map domains;

static int domain_publish(struct domain *domain, struct ibv_context *context, int fd)
{
	struct stat st = { 0 };
	int err = 0;

	if (fd != -1 && fstat(fd, &st))
		return -errno;
	state_lock();
	err = handle_add(&domains, domain, domain);
	if (!err) {
		domain->core = core_get(context, fd != -1, st.st_dev, st.st_ino);
		if (!domain->core) {
			handle_remove(&domains, domain, domain);
			err = -ENOMEM;
		}
	}
	state_unlock();
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
	err = modern_open_xrcd(context, fd, oflag, &domain->xrcd);
	if (err)
		goto free_domain;
	err = domain_publish(domain, context, fd);
	if (err)
		goto close_xrcd;
	table_refresh(context, domain->core->table);
	*ldom = &domain->legacy;
	return 0;

close_xrcd:
	modern_close_xrcd(domain->xrcd);
free_domain:
	free(domain);
	return err;
}

static bool domain_busy(const struct domain *domain)
{
	return domain->core->srqs || domain->core->qps || domain->registrations;
}

/* Take the handle out of use, or say why that cannot be. Lock held. */
static int domain_begin_close(struct domain *domain)
{
	if (!domain || domain->closing)
		return -EINVAL;
	if (domain_busy(domain))
		return -EBUSY;
	domain->closing = true;
	while (domain->users)
		state_wait();
	if (domain_busy(domain)) {
		domain->closing = false;
		return -EBUSY;
	}
	return 0;
}

static int domain_end(struct domain *domain, bool last)
{
	struct core *core = domain->core;
	int err = modern_close_xrcd(domain->xrcd);

	state_lock();
	domain->closing = false;
	if (!err) {
		handle_remove(&domains, domain, domain);
		core->handles--;
		free(domain);
	} else if (last) {
		core_show(core);
	}
	state_unlock();
	if (!err && last)
		core_free(core);
	return err;
}

int domain_close(struct legacy_xrc_domain *ldom)
{
	struct domain *domain;
	bool last;
	int err;

	state_lock();
	domain = handle_find(&domains, ldom);
	err = domain_begin_close(domain);
	last = !err && domain->core->handles == 1;
	if (last)
		core_hide(domain->core);
	state_unlock();
	return err ? err : domain_end(domain, last);
}

struct domain *domain_enter(const struct legacy_xrc_domain *ldom, const struct ibv_context *context)
{
	struct domain *domain = handle_find(&domains, ldom);

	if (!domain || domain->closing || (context && domain->legacy.context != context))
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
	struct domain *domain;

	state_lock();
	domain = handle_find(&domains, ldom);
	state_unlock();
	return domain ? domain->xrcd : NULL;
}

static void forget_users(void *object, void *arg)
{
	struct domain *domain = object;

	(void)arg;
	domain->users = 0;
}

void domain_forked(void)
{
	handle_each(&domains, forget_users, NULL);
}

struct by_xrcd {
	const struct ibv_xrcd *xrcd;
	struct domain *found;
};

static void match_xrcd(void *object, void *arg)
{
	struct domain *domain = object;
	struct by_xrcd *search = arg;

	if (domain->xrcd == search->xrcd)
		search->found = domain;
}

struct legacy_xrc_domain *domain_of_xrcd(const struct ibv_xrcd *xrcd)
{
	struct by_xrcd search = { .xrcd = xrcd };

	state_lock();
	handle_each(&domains, match_xrcd, &search);
	state_unlock();
	return search.found ? &search.found->legacy : NULL;
}

LIST_HEAD(domain_list, domain);

struct left_open {
	const struct ibv_context *context;
	struct domain_list domains;
};

static void note_left_open(void *object, void *arg)
{
	struct domain *domain = object;
	struct left_open *left = arg;

	if (domain->legacy.context == left->context)
		LIST_INSERT_HEAD(&left->domains, domain, left_open);
}

/* Out of the map and of its core. */
static void drop_handles(const struct domain_list *left)
{
	struct domain *domain;

	LIST_FOREACH(domain, left, left_open) {
		handle_remove(&domains, domain, domain);
		domain->core->handles--;
	}
}

/* What a forked child has from its parent is the parent's too: the kernel's domain stays. */
static void end_handles(struct domain_list *left)
{
	struct domain *domain;

	while ((domain = LIST_FIRST(left))) {
		LIST_REMOVE(domain, left_open);
		if (!domain->core->inherited)
			modern_close_xrcd(domain->xrcd);
		free(domain);
	}
}

static void take_unused(struct core *core, void *arg)
{
	struct core **unused = arg;

	if (core->context == (*unused)->context && !core->handles)
		*unused = core;
}

/* A core of the device that nothing needs. Lock held. */
static struct core *hide_unused(struct ibv_context *context)
{
	struct core none = { .context = context }, *unused = &none;

	core_each(take_unused, &unused);
	if (unused == &none)
		return NULL;
	core_hide(unused);
	return unused;
}

void domain_end_context(struct ibv_context *context)
{
	struct left_open left = { .context = context };
	struct core *core;

	state_lock();
	handle_each(&domains, note_left_open, &left);
	drop_handles(&left.domains);
	state_unlock();
	end_handles(&left.domains);
	for (;;) {
		state_lock();
		core = hide_unused(context);
		state_unlock();
		if (!core)
			return;
		core_free(core);
	}
}
