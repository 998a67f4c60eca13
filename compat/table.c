/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The registration table of a domain: its directory, its key, and the warnings. */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <modern/modern.h>

#include "log.h"
#include "settings.h"
#include "table.h"

struct regtab_entry *table_new(const struct ibv_context *context, dev_t dev, ino_t ino)
{
	struct regtab_key key = { .guid = modern_device_guid(context), .st_dev = dev, .st_ino = ino };
	char label[REGTAB_LABEL_SIZE];
	struct stat st;

	snprintf(key.device, sizeof(key.device), "%.63s", context->device->name);
	snprintf(label, sizeof(label), "%p", (const void *)context);
	/* Two emulated adapters may have one name and GUID; each has a device directory of its own. */
	if (!stat(context->device->ibdev_path, &st))
		key.instance = st.st_ino;
	return regtab_new(settings()->table_dir, &key, label);
}

bool table_refresh(const struct ibv_context *context, struct regtab_entry *entry)
{
	static bool lost, refused;
	struct regtab_news news;
	bool again = regtab_refresh(entry, &news);

	if (news.lost)
		log_once(lost, "%s: a file of the registration table in %s %s; set XRC_COMPAT_TABLE_DIR to a directory of your own",
			 context->device->name, settings()->table_dir, news.lost);
	if (news.err)
		log_once(refused, "%s: the registration table in %s: %s (is the file system full, or ulimit -f, -n or -v low?); "
			 "xrc-compat ps does not show all of this process. Set XRC_COMPAT_TABLE_DIR to a local directory of your own",
			 context->device->name, settings()->table_dir, strerror(-news.err));
	return again;
}
