/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The domains of each opened device, and what the registration table shows of them. */
#include "device_domain.h"

#include <base/log.h>
#include <base/state.h>
#include <modern/modern.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

PER_PROCESS struct device_domain_list device_domains;

static struct regtab_key key_of(const struct ibv_context *context, const struct stat *file)
{
	struct regtab_key key = {
		.guid = modern_device_guid(context), .st_dev = file->st_dev, .st_ino = file->st_ino
	};
	struct stat st;

	snprintf(key.device, sizeof(key.device), "%.63s", context->device->name);
	/* Emulated adapters may share name and GUID; each has a device directory of its own. */
	if (!stat(context->device->ibdev_path, &st))
		key.instance = st.st_ino;
	return key;
}

struct device_domain *device_domain_new(struct ibv_context *context, int fd)
{
	struct device_domain *created = calloc(1, sizeof(*created));
	struct stat st;

	if (!created)
		return NULL;
	created->context = context;
	created->has_inode = !fstat(fd, &st);
	if (created->has_inode)
		created->key = key_of(context, &st);
	return created;
}

static bool is_same(const struct device_domain *a, const struct device_domain *b)
{
	return a->context == b->context && a->has_inode && b->has_inode &&
	       a->key.st_dev == b->key.st_dev && a->key.st_ino == b->key.st_ino;
}

struct device_domain *device_domain_add(struct device_domain *added)
{
	static PER_PROCESS bool begun;
	struct device_domain *found;

	LIST_FOREACH(found, &device_domains, link)
		if (is_same(found, added))
			return found;
	LIST_INSERT_HEAD(&device_domains, added, link);
	/* A forked child must not write its parent's table. */
	if (!begun)
		regtab_forget();
	begun = true;
	if (added->has_inode)
		added->entry = regtab_open(&added->key);
	return added;
}

void device_domain_put(struct device_domain *device_domain)
{
	if (!LIST_EMPTY(&device_domain->domains))
		return;
	LIST_REMOVE(device_domain, link);
	if (device_domain->has_inode)
		regtab_close(device_domain->entry);
	free(device_domain);
}

void device_domain_take(const struct ibv_context *context, struct device_domain_list *taken)
{
	struct device_domain *next;

	for (struct device_domain *one = LIST_FIRST(&device_domains); one; one = next) {
		next = LIST_NEXT(one, link);
		if (one->context != context)
			continue;
		LIST_REMOVE(one, link);
		LIST_INSERT_HEAD(taken, one, link);
	}
}

void device_domain_show(void)
{
	static bool warned;
	int err;

	state_lock();
	err = regtab_show();
	state_unlock();
	if (err)
		log_once(warned,
			 "the registration table: %s; xrc-compat ps does not show this process",
			 strerror(-err));
}
