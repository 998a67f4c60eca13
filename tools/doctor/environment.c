/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Examines what the process gets from its system and shell: limits, directories, variables. */
#include "doctor.h"

#include <table/own.h>
#include <tools/files/preload.h>
#include <tools/job/variables.h>

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_USER_NAMESPACE 0xeffffffdu	/* USER_NS_INIT_INO of newer <linux/nsfs.h> */

extern char **environ;

/*
 * Containers often take this capability from their root. In a user namespace, as of rootless
 * Podman, root has it, but the kernel asks for the capability in its first namespace.
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
		print_finding("locked memory", FINDING_OK, NULL, "unlimited");
		return;
	}
	wrong = limit.rlim_cur < little && !may_lock_all();
	print_finding("locked memory", wrong ? FINDING_PROBLEM : FINDING_OK,
		      "raise it in /etc/security/limits.conf (memlock), and in the batch system's daemon or by the container's "
		      "--ulimit memlock=-1",
		      "%llu KiB may be locked", (unsigned long long)limit.rlim_cur / 1024);
}

/* Makes a table as the library does, but with no open domain, which `ps` would list. */
static void examine_table(void)
{
	int domain = regtab_open(&(struct regtab_key){ 0 }), err;

	regtab_close(domain);
	err = domain == REGTAB_NONE ? -ENOMEM : regtab_show();
	print_finding(
		"table", err ? FINDING_NOTE : FINDING_OK,
		err == -ENOSYS
			? "programs run; only xrc-compat ps needs Linux 3.17 or later"
			: "programs run, but xrc-compat ps does not show them; see ulimit -n and ulimit -f",
		"a process can%s make a registration table%s%s", err ? "not" : "", err ? ": " : "",
		err ? strerror(-err) : "");
}

static void examine_preload(void)
{
	const char *preload = getenv("LD_PRELOAD"), *rest = preload, *word, *path;

	while ((word = preload_next(&rest)) != NULL) {
		path = preload_expand(word);
		/* $ORIGIN and $PLATFORM are known only in the program. */
		if (!strchr(path, '/') || strchr(path, '$') || !access(path, R_OK))
			continue;
		print_finding("LD_PRELOAD", FINDING_PROBLEM,
			      "correct the variable; the loader only warns", "%s in LD_PRELOAD: %s",
			      path, strerror(errno));
		return;
	}
	print_finding("LD_PRELOAD", FINDING_OK, NULL, "%s",
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
			print_finding("variables", FINDING_PROBLEM, "see: xrc-compat --help",
				      "%.*s is set, but nothing of xrc-compat reads it",
				      (int)strcspn(*setting, "="), *setting);
			return;
		}
	}
	print_finding("variables", FINDING_OK, NULL, "none with an unknown name");
}

void examine_environment(void)
{
	examine_locked_memory();
	examine_table();
	examine_preload();
	examine_variables();
}
