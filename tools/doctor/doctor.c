/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat doctor`: examines this machine in the order in which a program needs its parts. */
#include "doctor.h"
#include "elf/lib_folder.h"
#include "terminal/style.h"
#include "tools/common/common.h"
#include "tools/common/variables.h"
#include "tools/program/paths.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TEXT_COLUMN 26

extern char **environ;

static bool as_json;
static struct json json;
static int problems;

/* ---- rows ---- */

static const char *const verdicts[] = { "ok", "note", "problem" };

static void print_row(const char *what, enum finding finding, const char *advice, const char *text)
{
	size_t wide = strlen(what) > 16 ? strlen(what) - 16 : 0;

	if (finding == FINDING_PROBLEM)
		style_print(stdout, STYLE_PROBLEM, "PROBLEM");
	else
		printf("%-7s", verdicts[finding]);
	printf("  %-16s ", what);
	style_wrap(stdout, text, TEXT_COLUMN + (unsigned int)wide, TEXT_COLUMN,
		   style_width(stdout));
	putchar('\n');
	if (!advice)
		return;
	printf("%*s", TEXT_COLUMN, "");
	style_wrap(stdout, advice, TEXT_COLUMN, TEXT_COLUMN, style_width(stdout));
	putchar('\n');
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

void found(const char *what, enum finding finding, const char *advice, const char *format, ...)
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
		      "%s%s%s", fault, path ? "" : "; first looked for at ",
		      path ? "" : places.item[0]);
	else
		found("library", FINDING_OK, NULL, "%s, %d-bit %s", path, elf.bits,
		      elf_info_machine_name(&elf));
}

static void examine_libibverbs(void)
{
	const char *advice = "install the distribution's libibverbs (Debian: libibverbs1)";
	char command[PATH_MAX], real[PATH_MAX];
	struct elf_info elf;
	const char *path;

	if (paths_self(command, sizeof(command)) || elf_info_read(command, &elf)) {
		found("libibverbs", FINDING_PROBLEM, "mount /proc",
		      "/proc/self/exe cannot be read");
		return;
	}
	path = system_library("libibverbs.so.1", command, &elf);
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

static void examine_drivers(void)
{
	glob_t files = { 0 };
	size_t count = glob("/etc/libibverbs.d/*.driver", 0, NULL, &files) ? 0 : files.gl_pathc;

	globfree(&files);
	found("drivers", count ? FINDING_OK : FINDING_PROBLEM,
	      count ? NULL : "install the drivers of libibverbs (Debian: ibverbs-providers)",
	      "%zu user-space drivers in /etc/libibverbs.d", count);
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
			found("variables", FINDING_PROBLEM, "see: xrc-compat env-vars",
			      "%.*s is set, but nothing reads it", (int)strcspn(*setting, "="),
			      *setting);
			return;
		}
	}
	found("variables", FINDING_OK, NULL, "none with an unknown name");
}

static void (*const examinations[])(void) = {
	examine_library, examine_companions, examine_libibverbs, examine_library_path,
	examine_drivers, examine_devices, examine_locked_memory, examine_tables, examine_preload,
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
	print_devices(&json);
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
