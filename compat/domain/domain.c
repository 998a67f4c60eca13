/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC domains: identity is device plus inode; what the kernel once counted against closing is counted here. */

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <modern/modern.h>

#include <compat/base/handle.h>
#include <compat/core/leftover.h>

#include "domain.h"
#include "keeper.h"

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

/* The application is done with it, but not the other processes that are registered with QPs made through it. */
static void domain_abandon(struct domain *domain)
{
	handle_remove(&domains, domain, domain);
	keeper_abandon(domain);
}

/* Whoever is in the table pins the inode, so the table is left before the kernel's domain is closed. */
static int domain_end(struct domain *domain, bool last)
{
	struct core *core = domain->core;
	int err;

	if (last) {
		keeper_close(core);
		table_close(&core->table);
	}
	leftover_retry(core->context);
	err = modern_close_xrcd(domain->xrcd);
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
	bool last, abandon;
	int err;

	state_lock();
	domain = handle_find(&domains, ldom);
	err = domain_begin_close(domain);
	abandon = !err && domain->kept;
	last = !err && !abandon && domain->core->handles == 1;
	if (abandon)
		domain_abandon(domain);
	if (last)
		core_hide(domain->core);
	state_unlock();
	return err || abandon ? err : domain_end(domain, last);
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

void domain_discard(struct domain *domain)
{
	modern_close_xrcd(domain->xrcd);
	free(domain);
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
		LIST_INSERT_HEAD(&left->domains, domain, abandoned);
}

/* Out of the map and of its core; true: the kernel's domain is to be closed. */
static bool drop_handle(struct domain *domain)
{
	handle_remove(&domains, domain, domain);
	if (domain->kept) {
		keeper_abandon(domain);
		return false;
	}
	domain->core->handles--;
	if (!domain->core->inherited)
		return true;
	free(domain);	/* the kernel's is the parent's too */
	return false;
}

/* The handles that the application never closed. Those that nothing is kept in go to unused. Lock held. */
static void drop_handles(const struct ibv_context *context, struct domain_list *unused)
{
	struct left_open left = { .context = context };
	struct domain *domain;

	handle_each(&domains, note_left_open, &left);
	while ((domain = LIST_FIRST(&left.domains))) {
		LIST_REMOVE(domain, abandoned);
		if (drop_handle(domain))
			LIST_INSERT_HEAD(unused, domain, abandoned);
	}
}

/* The kernel would close its own with the device; but the device may stay open for others, and the provider frees only so. */
static void end_handles(struct domain_list *unused)
{
	struct domain *domain;

	while ((domain = LIST_FIRST(unused))) {
		LIST_REMOVE(domain, abandoned);
		domain_discard(domain);
	}
}

static void take_idle(struct core *core, void *arg)
{
	struct core **idle = arg;

	if (core->context == (*idle)->context && !core->handles)
		*idle = core;
}

/* A core of the device that nothing needs; one with abandoned handles is its serving thread's to end. Lock held. */
static struct core *hide_idle(const struct ibv_context *context)
{
	struct core none = { .context = (struct ibv_context *)context }, *idle = &none;

	core_each(take_idle, &idle);
	if (idle == &none)
		return NULL;
	core_hide(idle);
	return idle;
}

bool domain_end_context(struct ibv_context *context)
{
	struct domain_list unused = LIST_HEAD_INITIALIZER(unused);
	struct core *core;
	bool done;

	state_lock();
	drop_handles(context, &unused);
	while ((core = hide_idle(context))) {
		state_unlock();
		keeper_close(core);
		table_close(&core->table);
		core_free(core);
		state_lock();
	}
	done = !core_of_context(context) || !keeper_keep_device(context);
	state_unlock();
	end_handles(&unused);
	return done;
}
