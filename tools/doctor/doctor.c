/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat doctor`: looks at this machine in the order in which things are needed and says what is wrong with each. */
#include "elf/lib_folder.h"
#include "logind.h"
#include "tools/common/command.h"
#include "tools/common/devices.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/common/variables.h"
#include "tools/program/elf_info.h"
#include "tools/program/needs.h"
#include "tools/program/paths.h"

#include <compat/regtab.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* What one examination found. */
struct finding {
	bool ill;
	char text[2 * PATH_MAX];
	const char *advice; /* for what is ill */
};

static void found(struct finding *finding, bool ill, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void found(struct finding *finding, bool ill, const char *advice, const char *format, ...)
{
	va_list args;

	finding->ill = ill;
	finding->advice = advice;
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

static void examine_library(struct finding *finding)
{
	struct path_candidates candidates;
	const char *path;
	struct elf_info elf;

	paths_library(&candidates);
	path = paths_first(&candidates);
	if (!path)
		found(finding, true, "install xrc-compat completely, or point XRC_COMPAT_LIBRARY to the library",
		      "libxrc-compat.so.1 is not there (first looked for: %s)", candidates.path[0]);
	else if (elf_info_read(path, &elf))
		found(finding, true, "install xrc-compat again", "%s is not a shared library", path);
	else {
		const char *fault = paths_preload_fault(path, &elf);

		if (fault)
			found(finding, true, "move xrc-compat, or point XRC_COMPAT_LIBRARY to the library", "%s: %s", path, fault);
		else
			found(finding, false, NULL, "%s, %d-bit %s", path, elf.bits, elf_info_machine_name(&elf));
		elf_info_free(&elf);
	}
}

static void examine_libibverbs(struct finding *finding)
{
	const char *advice = "install the distribution's libibverbs (Debian: libibverbs1)";
	struct elf_info self, elf;
	char real[PATH_MAX];
	char path[PATH_MAX];
	char command[PATH_MAX];

	if (paths_self(command, sizeof(command)) || elf_info_read(command, &self)) {
		found(finding, true, "mount /proc", "/proc/self/exe cannot be read");
		return;
	}
	if (!loader_find_system("libibverbs.so.1", &self, command, path))
		found(finding, true, advice, "libibverbs.so.1 is not installed");
	else if (elf_info_read(path, &elf))
		found(finding, true, advice, "%s is what the loader would take, but no library", path);
	else {
		found(finding, false, NULL, "%s", realpath(path, real) ? real : path);
		elf_info_free(&elf);
	}
	elf_info_free(&self);
}

/* Their own need, libibumad.so.3, may be missing: programs start without. */
static void examine_companions(struct finding *finding)
{
	struct path_candidates candidates;
	const char *path = NULL;

	for (const char *const *name = companion_names; *name; name++) {
		path = paths_companion_of(LOADER_LIB_OWN_BITS, *name, &candidates);
		if (!path) {
			found(finding, true, "install xrc-compat again", "%s is not there (first looked for: %s)", *name, candidates.path[0]);
			return;
		}
	}
	found(finding, false, NULL, "libibumad.so.1 and others, in %.*s", (int)(strrchr(path, '/') - path), path);
}

/* Number of entries of @directory whose names end in @suffix. */
static int count_entries(const char *directory, const char *suffix)
{
	DIR *stream = opendir(directory);
	struct dirent *entry;
	int count = 0;

	while (stream && (entry = readdir(stream))) {
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] != '.' && length >= strlen(suffix) &&
		    !strcmp(entry->d_name + length - strlen(suffix), suffix))
			count++;
	}
	if (stream)
		closedir(stream);
	return count;
}

static void examine_drivers(struct finding *finding)
{
	int count = count_entries("/etc/libibverbs.d", ".driver");

	found(finding, !count, "install the drivers of libibverbs (Debian: ibverbs-providers)",
	      "%d user-space drivers in /etc/libibverbs.d", count);
}

static void examine_devices(struct finding *finding)
{
	struct device_list list;
	int error = devices_read(libibverbs_for_tools(), &list);
	int usable = 0;
	const char *blocked = NULL;

	for (size_t i = 0; i < list.count; i++) {
		usable += device_usable(&list.device[i]);
		if (!list.device[i].opened)
			blocked = list.device[i].name;
	}
	if (error)
		found(finding, true, "try: ibv_devinfo", "the devices cannot be listed: %s", strerror(-error));
	else if (!list.count)
		found(finding, true, "load the kernel's driver (mlx4_ib, mlx5_ib and ib_uverbs), or use xrc-compat run --softhca",
		      "there is no RDMA device");
	else if (usable)
		found(finding, false, NULL, "%d of %zu can carry XRC", usable, list.count);
	else if (blocked)
		found(finding, true, "check the permissions of /dev/infiniband/uverbs*", "%s cannot be opened", blocked);
	else
		found(finding, true, "use an mlx4, mlx5, hns or qedr adapter, or xrc-compat run --softhca",
		      "none of %zu has XRC", list.count);
}

/* libmlx4 warns below 32 KiB; real programs register megabytes. */
static void examine_locked_memory(struct finding *finding)
{
	const rlim_t little = 1024 * 1024;
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		found(finding, false, NULL, "unlimited");
	else
		found(finding, limit.rlim_cur < little && geteuid() != 0,
		      "raise it in /etc/security/limits.conf (memlock), and in the batch system's daemon",
		      "%llu KiB may be locked", (unsigned long long)limit.rlim_cur / 1024);
}

/* When a user's last session ends, systemd-logind removes the user's files in /dev/shm, even if a batch job still uses them. */
static bool logind_removes(const char *directory)
{
	return !strcmp(directory, "/dev/shm") && geteuid() >= 1000 && !access("/run/systemd/system", F_OK) && logind_removes_ipc();
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

static void examine_table_directory(struct finding *finding)
{
	const char *directory = paths_table_directory();
	const char *advice = "name a directory of your own, on a local file system, in XRC_COMPAT_TABLE_DIR";
	int error = try_file(directory);

	if (error)
		found(finding, true, advice, "%s: %s", directory,
		      error == -EINVAL ? "the directory must be an absolute path" : strerror(-error));
	else
		found(finding, logind_removes(directory), "set RemoveIPC=no in a file of /etc/systemd/logind.conf.d, or name a directory of "
		      "your own in XRC_COMPAT_TABLE_DIR, for jobs that outlive your last login", "%s%s", directory,
		      logind_removes(directory) ? ": systemd-logind empties it for you when you log out (RemoveIPC)" : "");
}

/* A word of LD_PRELOAD, with the folder that the loader puts for $LIB. */
static void preload_path(const char *word, size_t length, char *path, size_t size)
{
	const char *token = memmem(word, length, "${LIB}", 6);
	const char *rest;
	char lib[NAME_MAX];

	if (!token)
		token = memmem(word, length, "$LIB", 4);
	if (!token || loader_lib(LOADER_LIB_OWN_BITS, lib, sizeof(lib)))
		snprintf(path, size, "%.*s", (int)length, word);
	else {
		rest = token + (token[1] == '{' ? 6 : 4);
		snprintf(path, size, "%.*s%s%.*s", (int)(token - word), word, lib, (int)(word + length - rest), rest);
	}
}

static void examine_preload(struct finding *finding)
{
	const char *preload = getenv("LD_PRELOAD");
	char path[PATH_MAX];

	found(finding, false, NULL, "%s", preload && preload[0] ? preload : "not set here (xrc-compat run sets it)");
	while (preload && preload[0]) {
		size_t length = strcspn(preload, ": ");

		preload_path(preload, length, path, sizeof(path));
		if (strchr(path, '/') && access(path, R_OK)) {
			found(finding, true, "correct the variable; the loader only warns", "%s in LD_PRELOAD: %s", path,
			      strerror(errno));
			return;
		}
		preload += length + (preload[length] != '\0');
	}
}

static bool known_variable(const char *name, size_t length)
{
#define ROW(NAME, DEFAULT, READ_WHEN, HELP) #NAME,
	static const char *const names[] = { XRC_COMPAT_ENV_TABLE(ROW) };
#undef ROW

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == length && !strncmp(names[i], name, length))
			return true;
	}
	return false;
}

static void examine_variables(struct finding *finding)
{
	found(finding, false, NULL, "none with an unknown name");
	for (char **variable = environ; *variable; variable++) {
		size_t length = strcspn(*variable, "=");

		if (strncmp(*variable, "XRC_COMPAT_", 11) && strncmp(*variable, "SOFTHCA_", 8))
			continue;
		if (!known_variable(*variable, length)) {
			found(finding, true, "see: xrc-compat env-vars", "%.*s is set, but nothing reads it", (int)length, *variable);
			return;
		}
	}
}

static const struct {
	const char *name;
	void (*examine)(struct finding *finding);
} examinations[] = {
	{ "library", examine_library },
	{ "companions", examine_companions },
	{ "libibverbs", examine_libibverbs },
	{ "drivers", examine_drivers },
	{ "devices", examine_devices },
	{ "locked memory", examine_locked_memory },
	{ "table directory", examine_table_directory },
	{ "LD_PRELOAD", examine_preload },
	{ "variables", examine_variables },
};

int command_doctor(const struct command *self, int argc, char **argv)
{
	int ill = 0;

	if (argc > 1)
		return refuse_word(self, argv[1]);
	for (size_t i = 0; i < sizeof(examinations) / sizeof(examinations[0]); i++) {
		struct finding finding = { 0 };

		examinations[i].examine(&finding);
		printf("%-8s %-16s %s\n", finding.ill ? "PROBLEM" : "ok", examinations[i].name, finding.text);
		if (finding.ill)
			printf("%-25s %s\n", "", finding.advice);
		ill += finding.ill;
	}
	printf("\n%s\n", ill ? "Take the problems from the top: the later ones may follow from the first." : "Nothing is wrong.");
	return ill ? 1 : 0;
}
