/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Examines what the process gets from its system and shell: limits, directories, variables. */
#include "doctor.h"

#include <compat/regtab.h>
#include <tools/common/variables.h>
#include <tools/files/paths.h>
#include <tools/files/preload.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOB_BYTES (8 << 20)	/* of the tables of a large job */
#define FIRST_USER_NAMESPACE 0xeffffffdu	/* USER_NS_INIT_INO of newer <linux/nsfs.h> */

extern char **environ;

/*
 * Containers often take this capability from their root. In a user namespace, as of rootless
 * Podman, root has it, but the kernel wants that of its first namespace.
 */
static bool may_lock_all(void)
{
	struct stat st;

	if (geteuid() || prctl(PR_CAPBSET_READ, CAP_IPC_LOCK) != 1)
		return false;
	/* Some kernels have no user namespaces. */
	return stat("/proc/self/ns/user", &st) || st.st_ino == FIRST_USER_NAMESPACE;
}

/* libibverbs warns up to 32 KiB; real programs register megabytes. */
static void examine_locked_memory(void)
{
	const rlim_t little = 1024 * 1024;
	struct rlimit limit = { 0 };
	bool wrong;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur == RLIM_INFINITY) {
		found("locked memory", FINDING_OK, NULL, "unlimited");
		return;
	}
	wrong = limit.rlim_cur < little && !may_lock_all();
	found("locked memory", wrong ? FINDING_PROBLEM : FINDING_OK,
	      "raise it in /etc/security/limits.conf (memlock), and in the batch system's daemon or by the container's "
	      "--ulimit memlock=-1",
	      "%llu KiB may be locked", (unsigned long long)limit.rlim_cur / 1024);
}

/* As the library makes its file. 0 or -errno. */
static int try_file(const char *directory)
{
	struct regtab_key key = { .device = "doctor" };
	struct regtab_entry *entry = regtab_new(directory, &key, "");
	struct regtab_news news = { .err = -ENOMEM };

	if (entry)
		regtab_refresh(entry, &news);
	regtab_free(entry);
	return news.err;
}

/* Allocates the memory of a large job's tables. One small file may fit where these do not. */
static bool has_room(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	bool full = fd >= 0 && fallocate(fd, 0, 0, JOB_BYTES) &&
		    (errno == ENOSPC || errno == EDQUOT);

	if (fd >= 0)
		close(fd);
	return !full;
}

static void examine_tables(void)
{
	const char *directory = paths_table_directory();
	int err = try_file(directory);

	if (err == -ENOSPC || (!err && !has_room(directory)))
		found("table directory", FINDING_PROBLEM,
		      "remove files there (xrc-compat gc removes dead tables), or mount it larger: "
		      "mount -o remount,size=1G /dev/shm; in a container: --shm-size=1g",
		      "%s: no room for the tables of a job, %d MiB", directory, JOB_BYTES >> 20);
	else if (err)
		found("table directory", FINDING_PROBLEM,
		      "name a directory of your own, on a local file system, in XRC_COMPAT_TABLE_DIR",
		      "%s: %s", directory,
		      err == -EINVAL ? "the directory must be an absolute path" : strerror(-err));
	else
		found("table directory", FINDING_OK, NULL, "%s", directory);
}

static void examine_preload(void)
{
	const char *preload = getenv("LD_PRELOAD"), *rest = preload, *path;

	while ((path = preload_next(&rest, true)) != NULL) {
		/* $ORIGIN and $PLATFORM are known only in the program. */
		if (!strchr(path, '/') || strchr(path, '$') || !access(path, R_OK))
			continue;
		found("LD_PRELOAD", FINDING_PROBLEM, "correct the variable; the loader only warns",
		      "%s in LD_PRELOAD: %s", path, strerror(errno));
		return;
	}
	found("LD_PRELOAD", FINDING_OK, NULL, "%s",
	      preload && preload[0] ? preload : "not set here (xrc-compat run sets it)");
}

/* @setting: NAME=VALUE. True if NAME begins as our variables do, and no code of ours reads it. */
static bool is_unknown(const char *setting)
{
#define ROW(NAME, ...) && strncmp(setting, #NAME "=", sizeof(#NAME))
	return (!strncmp(setting, "XRC_COMPAT_", 11) || !strncmp(setting, "SOFTHCA_", 8))
		XRC_COMPAT_ENV_TABLE(ROW);
#undef ROW
}

static void examine_variables(void)
{
	for (char **setting = environ; *setting; setting++) {
		if (is_unknown(*setting)) {
			found("variables", FINDING_PROBLEM, "see: xrc-compat --help",
			      "%.*s is set, but nothing reads it", (int)strcspn(*setting, "="),
			      *setting);
			return;
		}
	}
	found("variables", FINDING_OK, NULL, "none with an unknown name");
}

void examine_environment(void)
{
	examine_locked_memory();
	examine_tables();
	examine_preload();
	examine_variables();
}
