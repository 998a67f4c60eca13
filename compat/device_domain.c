/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The domains of each opened device. */

#include <stdlib.h>

#include "device_domain.h"

struct device_domain_list device_domains = LIST_HEAD_INITIALIZER(device_domains);

static struct device_domain *find(const struct ibv_context *context, dev_t dev, ino_t ino)
{
	struct device_domain *found;

	LIST_FOREACH(found, &device_domains, link)
		if (found->context == context && found->has_inode && found->dev == dev && found->ino == ino)
			return found;
	return NULL;
}

static struct device_domain *add(struct ibv_context *context, bool has_inode, dev_t dev, ino_t ino)
{
	struct device_domain *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->context = context;
	made->has_inode = has_inode;
	made->dev = dev;
	made->ino = ino;
	made->table = has_inode ? table_new(context, dev, ino) : NULL;
	LIST_INSERT_HEAD(&device_domains, made, link);
	return made;
}

struct device_domain *device_domain_get(struct ibv_context *context, bool has_inode, dev_t dev, ino_t ino)
{
	struct device_domain *got = has_inode ? find(context, dev, ino) : NULL;

	if (!got)
		got = add(context, has_inode, dev, ino);
	if (got)
		got->handles++;
	return got;
}

struct device_domain *device_domain_put(struct device_domain *device_domain)
{
	if (--device_domain->handles)
		return NULL;
	LIST_REMOVE(device_domain, link);
	return device_domain;
}

void device_domain_free(struct device_domain *device_domain)
{
	if (device_domain)
		regtab_free(device_domain->table);
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
