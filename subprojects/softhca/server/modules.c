/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The kernel modules. HP-MPI and Platform MPI take InfiniBand only if lsmod lists ib_core. */
#include "tree.h"

#include <dir.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names _ib and _core follow that of the driver. The last that was loaded comes first. */
static const struct module {
	const char *name;
	const char *holders; /* the modules that use it, without the driver's */
	bool held_by_driver; /* by its _ib, too */
	unsigned int bytes;
} modules[] = {
	{ "_ib", "", false, 249856 },
	{ "_core", "", true, 417792 },
	{ "rdma_ucm", "", false, 32768 },
	{ "rdma_cm", "rdma_ucm", false, 139264 },
	{ "iw_cm", "rdma_cm", false, 61440 },
	{ "ib_cm", "rdma_cm", false, 139264 },
	{ "ib_umad", "", false, 40960 },
	{ "ib_uverbs", "rdma_ucm,", true, 176128 },
	{ "ib_core", "rdma_cm,iw_cm,rdma_ucm,ib_cm,ib_umad,ib_uverbs,", true, 458752 },
};

#define MODULE_COUNT (sizeof(modules) / sizeof(modules[0]))

#define MODULE_NAME 32

static void name_module(const struct module *module, const char *driver, char name[MODULE_NAME])
{
	snprintf(name, MODULE_NAME, "%s%s", module->name[0] == '_' ? driver : "", module->name);
}

/* @line: of /proc/modules. */
static bool is_emulated(const char *line, const char *driver)
{
	char name[MODULE_NAME];

	for (size_t i = 0; i < MODULE_COUNT; i++) {
		name_module(&modules[i], driver, name);
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ')
			return true;
	}
	return false;
}

/* The lines of this machine's own modules. */
static void copy_modules(FILE *out, const char *driver)
{
	FILE *own = fopen("/proc/modules", "re");
	char line[4096];

	while (own && fgets(line, sizeof(line), own)) {
		if (!is_emulated(line, driver))
			fputs(line, out);
	}
	if (own)
		fclose(own);
}

/* The files that lsmod(8) reads beside /proc/modules. Returns the number of holders. */
static unsigned int write_module(struct tree *tree, const char *name, const char *holders,
				 unsigned int bytes)
{
	char dir[64], names[128], *rest = strcpy(names, holders), *holder;
	unsigned int count = 0;

	snprintf(dir, sizeof(dir), "module/%s/holders", name);
	tree_directory(tree, dir);
	while ((holder = strsep(&rest, ",")) != NULL && holder[0]) {
		snprintf(dir, sizeof(dir), "module/%s/holders/%s", name, holder);
		tree_directory(tree, dir);
		count++;
	}
	snprintf(dir, sizeof(dir), "module/%s", name);
	tree_attr(tree, dir, "initstate", "live");
	tree_attr(tree, dir, "coresize", "%u", bytes);
	tree_attr(tree, dir, "refcnt", "%u", count);
	return count;
}

void modules_create(struct tree *tree, const char *driver)
{
	char *text = NULL, name[MODULE_NAME], holders[128];
	unsigned int count;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		tree->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < MODULE_COUNT; i++) {
		const bool held = modules[i].held_by_driver;

		name_module(&modules[i], driver, name);
		snprintf(holders, sizeof(holders), "%s%s%s", modules[i].holders, held ? driver : "",
			 held ? "_ib" : "");
		count = write_module(tree, name, holders, modules[i].bytes);
		fprintf(out, "%s %u %u %s%s Live 0x0000000000000000\n", name, modules[i].bytes,
			count, holders[0] ? holders : "-", holders[0] ? "," : "");
	}
	copy_modules(out, driver);
	if (fclose(out)) {
		tree->err = -ENOMEM;
	} else {
		text[size - 1] = '\0'; /* tree_attr() ends the line */
		tree_attr(tree, ".", SYSFS_MODULES, "%s", text);
	}
	free(text);
}
