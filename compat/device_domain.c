/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The domains of each opened device, and what the registration table shows of them. */
#include "device_domain.h"
#include "log.h"
#include "settings.h"
#include "state.h"

#include <modern/modern.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

PER_PROCESS struct device_domain_list device_domains;

static struct regtab_entry *new_entry(const struct ibv_context *context, dev_t dev, ino_t ino)
{
	struct regtab_key key = { .guid = modern_device_guid(context),
				  .st_dev = dev,
				  .st_ino = ino };
	char label[REGTAB_LABEL_SIZE];
	struct stat st;

	snprintf(key.device, sizeof(key.device), "%.63s", context->device->name);
	snprintf(label, sizeof(label), "%p", (const void *)context);
	/* Emulated adapters may share name and GUID; each has a device directory of its own. */
	if (!stat(context->device->ibdev_path, &st))
		key.instance = st.st_ino;
	return regtab_new(settings.table_dir, &key, label);
}

struct device_domain *device_domain_new(struct ibv_context *context, bool has_inode, dev_t dev,
					ino_t ino)
{
	struct device_domain *created = calloc(1, sizeof(*created));

	if (!created)
		return NULL;
	created->context = context;
	created->has_inode = has_inode;
	created->dev = dev;
	created->ino = ino;
	created->table = has_inode ? new_entry(context, dev, ino) : NULL;
	return created;
}

static struct device_domain *find_by_inode(const struct ibv_context *context, dev_t dev, ino_t ino)
{
	struct device_domain *found;

	LIST_FOREACH(found, &device_domains, link)
		if (found->context == context && found->has_inode && found->dev == dev &&
		    found->ino == ino)
			return found;
	return NULL;
}

struct device_domain *device_domain_add(struct device_domain *added)
{
	struct device_domain *found = NULL;

	if (added->has_inode)
		found = find_by_inode(added->context, added->dev, added->ino);
	if (found)
		return found;
	LIST_INSERT_HEAD(&device_domains, added, link);
	return added;
}

struct device_domain *device_domain_put(struct device_domain *device_domain)
{
	if (!LIST_EMPTY(&device_domain->domains))
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

void device_domain_refresh(struct device_domain *device_domain)
{
	static bool lost, refused;
	const char *device = device_domain->context->device->name, *dir = settings.table_dir;
	struct regtab_news news;
	const char *hint = *dir == '/' ? "is the file system full, or ulimit -f or -n low?"
				       : "the path is not absolute";

	regtab_refresh(device_domain->table, &news);
	if (news.lost)
		log_once(lost,
			 "%s: a file of the registration table in %s %s; set XRC_COMPAT_TABLE_DIR to a "
			 "directory of your own",
			 device, dir, news.lost);
	if (news.err)
		log_once(refused,
			 "%s: the registration table in %s: %s (%s); xrc-compat ps does not show all of this "
			 "process. Set XRC_COMPAT_TABLE_DIR to a local directory of your own",
			 device, dir, strerror(-news.err), hint);
}
