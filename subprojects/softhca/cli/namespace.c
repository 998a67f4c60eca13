/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Namespaces for `softhca run --net` and `softhca ssh`, with or without root. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

/* Maps the user to itself. Groups can be mapped only after setgroups(2) is denied. */
static int map_self(uid_t uid, gid_t gid)
{
	char map[64];
	int err;

	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	err = write_file("/proc/self/uid_map", map);
	if (!err)
		err = write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return err ? err : write_file("/proc/self/gid_map", map);
}

int cli_unshare(int namespaces)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (!unshare(namespaces))
		return 0;
	return unshare(CLONE_NEWUSER | namespaces) ? -errno : map_self(uid, gid);
}

int cli_net(void)
{
	int err = cli_unshare(CLONE_NEWNET);

	if (!err)
		return CLI_OK;
	return cli_refuse(CLI_REFUSED,
			  "--net: this system allows you no network namespace of your own: %s; user.max_user_namespaces, "
			  "user.max_net_namespaces or a container's rules forbid it",
			  strerror(-err));
}
