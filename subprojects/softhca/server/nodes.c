/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The files of /dev/infiniband. Only root can make a character device. A socket stands for it: its
 * open(2) fails with ENXIO in every file system, by which the preload recognizes it.
 */
#include "server.h"

#include <dir.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int make_node(const char *directory, const char *name)
{
	char path[PATH_MAX];
	int err = dir_join(path, sizeof(path), directory, name);

	if (err)
		return err;
	/* mknod() of a preloaded libfakeroot makes an ordinary file. */
	if (syscall(SYS_mknodat, AT_FDCWD, path, S_IFSOCK | 0666, 0) || chmod(path, 0666))
		return -errno;
	return 0;
}

int nodes_create(const struct hca_machine *machine, const char *root)
{
	char directory[PATH_MAX], name[32];
	int err;

	err = dir_join(directory, sizeof(directory), root, "infiniband");
	if (err)
		return err;
	if (mkdir(root, 0700) || mkdir(directory, 0700))
		return -errno;
	err = make_node(directory, SOFTHCA_CM_NODE);
	for (int i = 0; !err && i < machine->settings.devices; i++) {
		snprintf(name, sizeof(name), SOFTHCA_VERBS_NODE "%d", i);
		err = make_node(directory, name);
	}
	return err;
}
