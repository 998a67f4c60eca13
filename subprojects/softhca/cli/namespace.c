/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Namespaces for `softhca run --net` and `softhca ssh`, with or without root. */
#include "cli.h"

#include <dir.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

static int unshare_as_user(int namespaces)
{
	uid_t uid = dir_user();
	gid_t gid = (gid_t)getauxval(AT_EGID); /* as the kernel knows it, like the user */

	return unshare(CLONE_NEWUSER | namespaces) ? -errno : map_self(uid, gid);
}

/* The result of unshare_as_user() in a child. */
static int try_unshare_as_user(int namespaces)
{
	void (*inherited)(int) = signal(SIGCHLD, SIG_DFL); /* waitpid() would tell no status */
	/* fork() of ThreadSanitizer starts a thread, and then unshare() fails here. */
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	int status;

	if (!child)
		_exit(-unshare_as_user(namespaces));
	if (child < 0 || waitpid(child, &status, 0) < 0)
		status = -errno;
	else
		status = WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
	signal(SIGCHLD, inherited);
	return status;
}

/*
 * Some systems (AppArmor of Ubuntu 24.04) allow a user namespace and then refuse its map. Without a
 * map the process is nobody, and it cannot leave the new namespace. So a child tries first.
 */
int cli_unshare(int namespaces)
{
	int err;

	if (!unshare(namespaces))
		return 0;
	err = try_unshare_as_user(namespaces);
	return err ? err : unshare_as_user(namespaces);
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
