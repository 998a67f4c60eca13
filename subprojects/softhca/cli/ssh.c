/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ssh`: runs a command on the host of another adapter, for launchers of MPI jobs. */
#include "cli.h"

#include <dir.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* The exit status of ssh(1) if it cannot start the command. */
#define SSH_FAILED 255

/* The options of ssh(1) that have a value. All others are flags, which '?' stands for. */
#define SSH_OPTIONS "+B:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:"

/* Index of the host in @argv. */
static int skip_options(int argc, char **argv)
{
	opterr = 0;
	while (getopt(argc, argv, SSH_OPTIONS) != -1)
		;
	return optind;
}

#define SHM "/dev/shm"

/* Keeps later mounts in this namespace. Below chroot(2) "/" is no mount, but /dev/shm may be one. */
static bool make_mounts_private(void)
{
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       !mount("none", SHM, NULL, MS_PRIVATE, NULL);
}

/*
 * A /dev/shm for this host. `softhca run` has its directory in the machine's, which is hidden then:
 * the directory gets the same path again.
 */
static void mount_shm(const char *directory)
{
	const size_t prefix = strlen(SHM "/");
	const bool inside = !strncmp(directory, SHM "/", prefix);
	char hidden[64];
	int fd;

	/* SOFTHCA_DIR and TMPDIR can name a directory anywhere. */
	if (inside && strchr(directory + prefix, '/'))
		return;
	fd = open(directory, O_PATH | O_CLOEXEC);
	snprintf(hidden, sizeof(hidden), "/proc/self/fd/%d", fd);
	if (fd >= 0 && make_mounts_private() &&
	    !mount("tmpfs", SHM, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") && inside &&
	    !mkdir(directory, 0700))
		mount(hidden, directory, NULL, MS_BIND, NULL);
}

/*
 * A host name and shared memory of its own, where the system allows namespaces. The host has the
 * name of its adapter, with a hyphen for the underscore.
 */
static void enter_namespaces(const char *adapter, const char *directory)
{
	char host[DIR_ADAPTER];

	*strrchr(strcpy(host, adapter), '_') = '-';
	if (!cli_unshare(CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC) &&
	    !sethostname(host, strlen(host)))
		mount_shm(directory);
}

/* The words as one command line, as ssh passes it to the shell. NULL without memory. */
static char *join(char **words, int count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < count; i++)
		fprintf(out, i ? " %s" : "%s", words[i]);
	return fclose(out) ? NULL : text;
}

/*
 * The user's login shell, as sshd runs it: mpirun_rsh of MVAPICH 1 gives commands that only csh and
 * bash know. In a container the user may have no shell, and a system user has nologin(8).
 */
static const char *login_shell(void)
{
	const struct passwd *user = getpwuid(getuid());
	const char *shell = NULL, *valid;

	while (user && !shell && (valid = getusershell())) {
		if (!strcmp(valid, user->pw_shell) && !access(valid, X_OK))
			shell = user->pw_shell;
	}
	endusershell();
	return shell ? shell : "/bin/sh";
}

static void run_in_shell(const char *shell, const char *command)
{
	const char *slash = strrchr(shell, '/');

	execl(shell, slash ? slash + 1 : shell, "-c", command, (char *)NULL);
}

int cli_ssh(int argc, char **argv)
{
	int first = skip_options(argc, argv);
	char directory[DIR_MAX + 1];
	char adapter[DIR_ADAPTER];
	const char *shell;
	char *command;

	if (first + 1 >= argc)
		return cli_refuse(SSH_FAILED,
				  "ssh: a host and a command are needed" CLI_TRY "ssh --help");
	if (cli_report(dir_find(directory)))
		return SSH_FAILED;
	if (dir_adapter(directory, argv[first], adapter) < 0)
		return cli_refuse(SSH_FAILED,
				  "ssh: %s: no such host; it is called like its adapter, as mlx4-1 or mlx4_1",
				  argv[first]);
	command = join(argv + first + 1, argc - first - 1);
	if (!command || setenv("SOFTHCA_HOST", adapter, 1))
		return cli_refuse(SSH_FAILED, "out of memory");
	shell = login_shell();
	enter_namespaces(adapter, directory);
	run_in_shell(shell, command);
	return cli_refuse(SSH_FAILED, "%s: %s", shell, strerror(errno));
}
