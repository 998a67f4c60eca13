/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat doctor`: examines this machine in the order in which a program needs its parts. */
#include "elf/lib_folder.h"
#include "terminal/style.h"
#include "tools/common/common.h"
#include "tools/common/devices.h"
#include "tools/common/variables.h"
#include "tools/program/paths.h"

#include <compat/regtab.h>

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TEXT_COLUMN 26
#define JOB_BYTES (8 << 20)	/* of the tables of a large job */
/* Physical states of a port. */
#define POLLING 2
#define DISABLED 3

extern char **environ;

static bool as_json;
static struct json json;
static int problems;
static struct device_list list;

/* ---- rows ---- */

enum finding {
	FINDING_OK,
	FINDING_NOTE,		/* serves most old programs, not all */
	FINDING_PROBLEM,
};

static const char *const verdicts[] = { "ok", "note", "problem" };

static void print_text(const char *text)
{
	style_wrap(stdout, text, TEXT_COLUMN, TEXT_COLUMN, style_width(stdout));
	putchar('\n');
}

static void print_row(const char *what, enum finding finding, const char *advice, const char *text)
{
	if (finding == FINDING_PROBLEM)
		style_print(stdout, STYLE_PROBLEM, "PROBLEM");
	else
		printf("%-7s", verdicts[finding]);
	printf("  %-16s ", what);
	print_text(text);
	if (!advice)
		return;
	printf("%*s", TEXT_COLUMN, "");
	print_text(advice);
}

static void print_row_json(const char *what, enum finding finding, const char *advice,
			   const char *text)
{
	json_open(&json, NULL, '{');
	json_string(&json, "what", what);
	json_string(&json, "verdict", verdicts[finding]);
	json_string(&json, "text", text);
	json_string(&json, "advice", advice);
	json_close(&json, '}');
}

/* One row. @advice: what to do about it, NULL when all is well. */
__attribute__((format(printf, 4, 5))) static void found(const char *what, enum finding finding,
							 const char *advice, const char *format,
							 ...)
{
	char text[2 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_clean(text);
	(as_json ? print_row_json : print_row)(what, finding, advice, text);
	problems += finding == FINDING_PROBLEM;
}

/* ---- libraries ---- */

static void examine_library(void)
{
	struct string_list places = { 0 };
	const char *path = paths_shim(LOADER_LIB_OWN_BITS, &places), *fault;
	struct elf_info elf;

	fault = paths_preload_fault(path, &elf);
	if (fault)
		found("library", FINDING_PROBLEM,
		      "install xrc-compat completely, in a path that LD_PRELOAD can have, or point XRC_COMPAT_LIBRARY to the library",
		      "%s%s%s", fault, places.count && !path ? "; first looked for at " : "",
		      places.count && !path ? places.item[0] : "");
	else
		found("library", FINDING_OK, NULL, "%s, %d-bit %s", path, elf.bits,
		      elf_info_machine_name(&elf));
}

static void examine_libibverbs(void)
{
	const char *advice = "install the distribution's libibverbs (Debian: libibverbs1)";
	char command[PATH_MAX], real[PATH_MAX];
	const char *path = NULL;
	struct elf_info elf;

	if (!paths_self(command, sizeof(command)) && !elf_info_read(command, &elf))
		path = library_found("libibverbs.so.1", command, &elf, true);
	if (!path)
		found("libibverbs", FINDING_PROBLEM, advice, "libibverbs.so.1 is not installed");
	else if (elf_info_read(path, &elf))
		found("libibverbs", FINDING_PROBLEM, advice,
		      "%s is what the loader would take, but no library", path);
	else
		found("libibverbs", FINDING_OK, NULL, "%s", realpath(path, real) ? real : path);
}

/* libibumad.so.3 may be missing: programs start without it. */
static void examine_companions(void)
{
	struct string_list places = { 0 };
	const char *path = NULL;

	for (const char *const *name = companion_names; *name; name++) {
		path = paths_library(LOADER_LIB_OWN_BITS, format_string("companions/%s", *name),
				     &places);
		if (!path) {
			found("companions", FINDING_PROBLEM, "install xrc-compat again",
			      "%s was not found (first looked for: %s)", *name, places.item[0]);
			return;
		}
	}
	found("companions", FINDING_OK, NULL, "libibumad.so.1 and others, in %.*s",
	      (int)(strrchr(path, '/') - path), path);
}

/* LD_LIBRARY_PATH of this shell may come from a solver's module or wrapper script. */
static void examine_library_path(void)
{
	const char *value = getenv("LD_LIBRARY_PATH"), *folder, *path;
	char *rest = copy_string(value && value[0] ? value : NULL);

	while ((folder = strsep(&rest, ":;"))) {
		path = format_string("%s%slibibverbs.so.1", folder, folder[0] ? "/" : "");
		if (access(path, R_OK))
			continue;
		if (libibverbs_is_old(path))
			found("LD_LIBRARY_PATH", FINDING_PROBLEM,
			      "programs get it instead of the system's; xrc-compat run puts the system's first, for programs that "
			      "scripts start with --system-libibverbs",
			      "%s is older than rdma-core: it finds no device on this kernel",
			      path);
		else
			found("LD_LIBRARY_PATH", FINDING_OK, NULL, "%s", path);
		return;
	}
	found("LD_LIBRARY_PATH", FINDING_OK, NULL,
	      value ? "leads to no other libibverbs" : "not set here");
}

/* ---- devices ---- */

static const char *describe_port(const struct device_port *port, unsigned int number)
{
	bool has_lid = port->layer != IBV_LINK_LAYER_ETHERNET && port->lid;

	return format_string("; port %u %s%s, %s", number, port_state_name(port->state),
			     has_lid ? format_string(", LID %u", port->lid) : "",
			     port_layer_name(port->layer));
}

/* The facts of ibv_devinfo(1) in one line. */
static void show_device(const struct device *device)
{
	bool alone = device->xrc && !device->open_qp;
	const char *ports = "";

	for (unsigned int i = 0; i < device->ports; i++)
		ports = format_string("%s%s", ports, describe_port(&device->port[i], i + 1));
	found(device->name, alone || !device->opened ? FINDING_NOTE : FINDING_OK,
	      alone ? "update to Linux 5.11 or later; until then ibv_reg_xrc_rcv_qp() fails with ENOSYS in all processes but the creator"
		    : NULL,
	      "%s%s", device_text(device), ports);
}

/* @err: of listing them. */
static void count_devices(int err)
{
	const char *blocked = NULL;
	int usable = 0;

	for (size_t i = 0; i < list.count; i++) {
		usable += device_usable(&list.device[i]);
		if (!list.device[i].opened)
			blocked = list.device[i].name;
	}
	if (err)
		found("devices", FINDING_PROBLEM, "try: ibv_devinfo",
		      "the devices cannot be listed: %s", strerror(-err));
	else if (!list.count)
		found("devices", FINDING_PROBLEM,
		      "load the kernel's driver (mlx4_ib, mlx5_ib and ib_uverbs), install the drivers of libibverbs (Debian: "
		      "ibverbs-providers), or use xrc-compat run --softhca",
		      "there is no RDMA device");
	else if (usable)
		found("devices", FINDING_OK, NULL, "%d of %zu can carry XRC", usable, list.count);
	else if (blocked)
		found("devices", FINDING_PROBLEM,
		      "check the permissions of /dev/infiniband/uverbs*", "%s cannot be opened",
		      blocked);
	else
		found("devices", FINDING_PROBLEM,
		      "use an mlx4, mlx5, hns or qedr adapter, or xrc-compat run --softhca",
		      "none of %zu has XRC", list.count);
}

/* Whether it is a name that rdma_rename of rdma-core gives, by protocol and place. */
static bool is_renamed(const char *name)
{
	return !fnmatch("@(ib[psoxf]|roce|iwp|opap|rdmap)*", name, FNM_EXTMATCH);
}

static void examine_names(void)
{
	for (size_t i = 0; i < list.count; i++) {
		const char *name = list.device[i].name, *driver = list.device[i].driver;

		if (!is_renamed(name))
			continue;
		driver = driver[0] ? driver : "mlx4";
		found("device names", FINDING_NOTE,
		      format_string(
			      "to have the kernel's names, put this line into /etc/udev/rules.d/60-rdma-persistent-naming.rules "
			      "and restart: ACTION==\"add\", SUBSYSTEM==\"infiniband\", PROGRAM=\"rdma_rename %%k NAME_KERNEL\" -- or, until "
			      "then: rdma dev set %s name %s_0", name, driver),
		      "udev has renamed %s; old programs that ask for %s_0 do not find it", name,
		      driver);
		return;
	}
}

static const char *reason_of(const struct device_port *port)
{
	if (port->layer == IBV_LINK_LAYER_ETHERNET)
		return "the network interface is down: ip link set NAME up; or look at the cable";
	if (port->state == IBV_PORT_INIT || port->state == IBV_PORT_ARMED)
		return "no subnet manager has set it up: start opensm on one host, or the subnet manager of a switch";
	if (port->physical == DISABLED)
		return "the port is disabled: enable it, for instance with ibportstate";
	if (port->physical == POLLING)
		return "the port finds no other end: look at the cable, and at the switch";
	return "look at the cable, and whether a subnet manager runs (opensm)";
}

/* Looks at devices with XRC only. The advice is for the first port. */
static void examine_ports(void)
{
	const struct device *down = NULL;

	for (size_t i = 0; i < list.count; i++) {
		const struct device *device = &list.device[i];

		for (unsigned int k = 0; device_usable(device) && k < device->ports; k++) {
			if (device->port[k].state == IBV_PORT_ACTIVE)
				return;
			down = down ? down : device;
		}
	}
	if (down)
		found("ports", FINDING_PROBLEM, reason_of(&down->port[0]),
		      "none is ACTIVE; %s: port is %s", down->name,
		      port_state_name(down->port[0].state));
}

static void examine_devices(void)
{
	count_devices(devices_read(libibverbs_for_tools(), &list));
	for (size_t i = 0; i < list.count; i++)
		show_device(&list.device[i]);
	examine_names();
	examine_ports();
}

/* ---- tables ---- */

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
	bool full = fd >= 0 && fallocate(fd, 0, 0, JOB_BYTES) && errno == ENOSPC;

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

/* ---- limits and variables ---- */

/* libmlx4 warns below 32 KiB; real programs register megabytes. */
static void examine_locked_memory(void)
{
	const rlim_t little = 1024 * 1024;
	struct rlimit limit;
	bool wrong;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY) {
		found("locked memory", FINDING_OK, NULL, "unlimited");
		return;
	}
	wrong = limit.rlim_cur < little && geteuid() != 0;
	found("locked memory", wrong ? FINDING_PROBLEM : FINDING_OK,
	      wrong ? "raise it in /etc/security/limits.conf (memlock), and in the batch system's daemon"
		    : NULL,
	      "%llu KiB may be locked", (unsigned long long)limit.rlim_cur / 1024);
}

static void examine_preload(void)
{
	const char *preload = getenv("LD_PRELOAD"), *rest = preload, *path;

	while ((path = preload_next(&rest, true)) != NULL) {
		if (!strchr(path, '/') || !access(path, R_OK))
			continue;
		found("LD_PRELOAD", FINDING_PROBLEM, "correct the variable; the loader only warns",
		      "%s in LD_PRELOAD: %s", path, strerror(errno));
		return;
	}
	found("LD_PRELOAD", FINDING_OK, NULL, "%s",
	      preload && preload[0] ? preload : "not set here (xrc-compat run sets it)");
}

/* @setting: NAME=VALUE. */
static bool is_known(const char *setting)
{
#define ROW(NAME, DEFAULT, READ_WHEN, HELP) #NAME "=",
	static const char *const names[] = { XRC_COMPAT_ENV_TABLE(ROW) };
#undef ROW

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(setting, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static void examine_variables(void)
{
	for (char **setting = environ; *setting; setting++) {
		bool ours = !strncmp(*setting, "XRC_COMPAT_", 11) ||
			    !strncmp(*setting, "SOFTHCA_", 8);

		if (ours && !is_known(*setting)) {
			found("variables", FINDING_PROBLEM, "see: xrc-compat --help",
			      "%.*s is set, but nothing reads it", (int)strcspn(*setting, "="),
			      *setting);
			return;
		}
	}
	found("variables", FINDING_OK, NULL, "none with an unknown name");
}

static void (*const examinations[])(void) = {
	examine_library, examine_companions, examine_libibverbs, examine_library_path,
	examine_devices, examine_locked_memory, examine_tables, examine_preload,
	examine_variables,
};

static int run_doctor(char **words)
{
	(void)words;
	json.out = as_json ? stdout : NULL;
	json_open(&json, NULL, '{');
	json_open(&json, "rows", '[');
	for (size_t i = 0; i < sizeof(examinations) / sizeof(examinations[0]); i++)
		examinations[i]();
	json_close(&json, ']');
	devices_print_json(&json, &list);
	json_number(&json, "problems", problems);
	json_close(&json, '}');
	if (!as_json)
		printf("\n%s\n",
		       problems
			       ? "Take the problems from the top: the later ones may follow from the first."
			       : "Nothing is wrong.");
	return problems ? 1 : 0;
}

static const struct option_row options[] = {
	{ "--json", NULL, "print JSON", .flag = &as_json },
	{ 0 },
};

const struct command command_doctor = {
	"doctor", options, "", "say what is wrong on this machine, and how to fix it",
	"xrc-compat doctor --json", run_doctor,
};
