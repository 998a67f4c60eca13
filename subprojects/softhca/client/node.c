/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The files of /dev/infiniband. In the daemon's directory they are sockets: no process but root's
 * can make a character device. Here they are recognized, whatever path or directory led to them.
 */
#include "client.h"

#include <lookup/lookup.h>
#include <dir.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static dev_t file_system; /* of all these files */

/* By dir_stat(): libfakeroot's stat() calls __xstat(), which is our hook and calls node_find(). */
static bool look_at(int node, char path[PATH_MAX], struct stat64 *st)
{
	char name[32];

	if (!place_dir())
		return false;
	snprintf(name, sizeof(name), node == NODE_CM ? SOFTHCA_CM_NODE : SOFTHCA_VERBS_NODE "%d",
		 node);
	snprintf(path, PATH_MAX, "%s/" SOFTHCA_DEV "/infiniband/%s", place_dir(), name);
	return !dir_stat(AT_FDCWD, path, st, 0);
}

static void find_file_system(void)
{
	char path[PATH_MAX];
	struct stat64 st;

	if (look_at(NODE_CM, path, &st))
		file_system = st.st_dev;
}

/*
 * Programs look at sockets often, but rarely at those in the daemon's file system. Only for the
 * latter this looks at each node.
 */
int node_find(dev_t device, ino64_t inode)
{
	int saved = errno, found = -1;
	char path[PATH_MAX];
	struct stat64 st;

	pthread_once(&once, find_file_system);
	if (device != file_system)
		return -1;
	for (int node = 0; found < 0 && node <= NODE_CM; node++) {
		if (look_at(node, path, &st) && st.st_dev == device && st.st_ino == inode)
			found = node;
	}
	errno = saved;
	return found;
}

int node_at(int directory, const char *path)
{
	int saved = errno, node = -1;
	struct stat64 st;

	if (!dir_stat(directory, path, &st, 0) && S_ISSOCK(st.st_mode))
		node = node_find(st.st_dev, st.st_ino);
	errno = saved;
	return node;
}

const char *node_path(int node, char path[PATH_MAX])
{
	struct stat64 st;

	return look_at(node, path, &st) ? path : "/dev/null";
}

dev_t node_number(int node)
{
	return node == NODE_CM ? makedev(SOFTHCA_CM_MAJOR, SOFTHCA_CM_MINOR)
			       : makedev(SOFTHCA_VERBS_MAJOR,
					 SOFTHCA_VERBS_MINOR + (unsigned int)node);
}

int node_open(int node, int flags)
{
	int fd = node == NODE_CM ? dev_open_cm(flags) : dev_open((unsigned int)node, flags);

	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}
