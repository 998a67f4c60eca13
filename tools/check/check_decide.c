/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Decides the verdict, the reason and the next command: rules[] has the rules in their order. */
#include "check.h"

#include <tools/files/regular.h>
#include <tools/job/launchers.h>
#include <tools/program/libibverbs.h>
#include <tools/text/command.h>
#include <tools/text/text.h>

#include <errno.h>
#include <string.h>

#define BRINGS_OLD_LIBIBVERBS \
	"it brings an old libibverbs along (%s), which finds no device on today's kernels"

const struct verdict verdicts[] = {
	[VERDICT_READY] = { "ready", 0 },
	[VERDICT_NOT_NEEDED] = { "not needed", 1 },
	[VERDICT_CANNOT_TELL] = { "cannot tell", 3 },
	[VERDICT_NO_DEVICE] = { "no device", 4 },
	[VERDICT_UNSUPPORTED] = { "unsupported", 5 },
	[VERDICT_NOT_PRELOADABLE] = { "cannot be preloaded", STATUS_OF_RUN },
	[VERDICT_CANNOT_START] = { "cannot start", STATUS_OF_RUN },
	[VERDICT_BROKEN] = { "broken", STATUS_OF_RUN },
};

/* A line for a shell. @command: what stands between xrc-compat and the program. */
static const char *our_command(const char *command, const char *program)
{
	return format_string("xrc-compat %s %s", command, text_shell_word(program));
}

/* ---- rules: each returns the reason if it applies, else NULL, and then sets nothing ---- */

static const char *decide_unreadable(const struct check *check, struct decision *decision)
{
	if (!check->program.is_unreadable)
		return NULL;
	decision->advice = check->program.advice;
	decision->next = our_command("env", check->program.path);
	return check->program.fault;
}

static const char *decide_not_executable(const struct check *check, struct decision *decision)
{
	if (!check->program.fault || check->run_status == TOOL_EXIT_REFUSED)
		return NULL;
	decision->advice = check->program.advice;
	return check->program.fault;
}

/* The program cannot start, whatever functions it uses. */
static const char *decide_missing_library(const struct check *check, struct decision *decision)
{
	const struct closure *closure = &check->closure;
	const char *why = closure->failure;

	if (!why && closure->missing.count)
		why = format_string("%s is nowhere to be found", closure->missing.item[0]);
	/* `run` refuses before the loader looks for libraries. */
	if (!why || check->program.fault)
		return NULL;
	decision->exit_status = TOOL_EXIT_NOT_FOUND;
	decision->advice = check->load_advice;
	return format_string("the program cannot start: %s", why);
}

/* Without our library `run` refuses. A plugin that cannot be read may need the legacy functions. */
static const char *decide_broken(const struct check *check, struct decision *decision)
{
	if (check->broken)
		decision->exit_status = TOOL_EXIT_REFUSED;
	return check->broken;
}

/* These programs start the ranks of their host. Only a launcher knows how to start them. */
static const char *decide_launched(const struct check *check, struct decision *decision)
{
	if (!text_matches(basename(check->program.path),
			  "@(mpispawn|orted|prted|hydra_*proxy|pmi_proxy|slurmstepd)"))
		return NULL;
	decision->next = "xrc-compat env";
	return "a launcher starts it on each host: ask about the program, and start the launcher by its line of xrc-compat env";
}

static const char *decide_starter(const struct check *check, struct decision *decision)
{
	const char *started = check->started, *path = check->program.path, *start;
	bool by_env = check->mpi || find_launcher(path), is_script, sets_path;

	if (check->needs.count || check->program.fault || !check->starter)
		return NULL;
	is_script = program_is_script(&check->program);
	sets_path = is_script && regular_has(path, "LD_LIBRARY_PATH");
	start = format_string("%s%s%s", by_env ? "env" : "run",
			      sets_path ? " --system-libibverbs" : "", by_env ? "" : " --");
	/* If the script sets the path, `check` of the program sees other libraries. */
	decision->next = started && !sets_path ? our_command("check", started)
					       : our_command(start, check->name);
	return format_string("it starts other programs: ask about %s. Start it with xrc-compat %s%s%s",
			     started ? started : "the one that uses InfiniBand",
			     by_env ? "env" : "run",
			     sets_path ? ", with --system-libibverbs if an old libibverbs is in the LD_LIBRARY_PATH that it sets"
				       : "",
			     is_script ? ", with --companions if a library is missing" : "");
}

static const char *decide_unknown_libraries(const struct check *check, struct decision *decision)
{
	if (check->needs.count || check->program.fault || !check->closure.unasked)
		return NULL;
	decision->next = our_command("run --", check->name);
	return format_string("its libraries are not known: %s", check->closure.unasked);
}

/* A libibverbs of that age has these strings. A stripped program still has them. */
static const char *decide_static_verbs(const struct check *check, struct decision *decision)
{
	const char *binary = check->program.binary;

	(void)decision;
	if (check->needs.count || check->program.fault || check->closure.libibverbs ||
	    !regular_has(binary, "infiniband_verbs") || !regular_has(binary, "libibverbs: "))
		return NULL;
	return "a libibverbs.a is linked into it, which finds no device on today's kernels, and in whose place no "
	       "library can be put; link it with libibverbs.so.1";
}

/*
 * Whether a refused program may use XRC all the same: a setuid program such as su may start a
 * program with XRC, and the libraries of a program for another C library are not known.
 */
static bool may_use_xrc(const struct check *check)
{
	return check->program.fault && (check->starter || check->closure.unasked);
}

static const char *decide_transitional(const struct check *check, struct decision *decision)
{
	(void)decision;
	if (check->needs.count || may_use_xrc(check) || !check->transitional)
		return NULL;
	return "it uses the interface of 2011 to 2014 that was never released (IBV_XRC_OPS); its sources "
	       "compile for today's libibverbs with the pkg-config package xrc-compat-xsrq";
}

static const char *decide_not_needed(const struct check *check, struct decision *decision)
{
	(void)decision;
	/* In a static program the functions have no names. */
	if (check->needs.count || may_use_xrc(check) || check->program.elf.is_static ||
	    check->closure.companion.count || check->closure.old_libibverbs)
		return NULL;
	return "neither it nor its libraries use the XRC functions of OFED 1.3 to 1.5";
}

/* A program without a fault has no advice either. */
static const char *decide_not_preloadable(const struct check *check, struct decision *decision)
{
	decision->advice = check->program.advice;
	return check->program.fault;
}

/* `run` has nothing to put in place of an old libibverbs. */
static const char *decide_old_libibverbs(const struct check *check, struct decision *decision)
{
	if (!check->closure.old_libibverbs || check->closure.system_libibverbs)
		return NULL;
	decision->exit_status = TOOL_EXIT_NOT_FOUND;
	decision->advice =
		LIBIBVERBS_INSTALL_ADVICE "; run then puts it in the place of the old one";
	return format_string(BRINGS_OLD_LIBIBVERBS, check->closure.old_libibverbs);
}

/* The program starts, and finds no device, although this command may find devices. */
static const char *decide_driver(const struct check *check, struct decision *decision)
{
	if (!check->driver_fault.text || !check->needs.count)
		return NULL;
	decision->advice = check->driver_fault.advice;
	decision->next = "xrc-compat doctor";
	return format_string("the program's libibverbs or its drivers cannot be loaded: %s",
			     check->driver_fault.text);
}

/* Why no device is usable. @failed: a device that cannot be opened or queried, or NULL. */
static const char *device_fault(const struct check *check, const struct device *failed)
{
	if (failed)
		return format_string("device %s %s%s", failed->name, device_text(failed),
				     !failed->opened &&
						     (failed->err == EACCES || failed->err == EPERM)
					     ? "; check the permissions of /dev/infiniband/uverbs*"
					     : "");
	if (check->devices_error)
		return format_string("the devices could not be listed: %s", check->devices_error);
	if (check->missing_device.text)
		return check->missing_device.text;
	if (check->wanted_device)
		return format_string("device %s was not found or has no XRC", check->wanted_device);
	return check->devices.count ? format_string("no device on this machine has XRC: %s",
						    devices_without_xrc(&check->devices))
				    : "there is no RDMA device on this machine";
}

static const char *decide_device(const struct check *check, struct decision *decision)
{
	const char *wanted = check->wanted_device;
	const struct device *failed = NULL;

	EACH(device, check->devices.device, check->devices.count) {
		if (wanted && strcmp(wanted, device->name) != 0)
			continue;
		if (device->xrc)
			return NULL;
		if (device->err)
			failed = device;
	}
	if (!check->needs.count)
		return NULL;
	decision->next = failed || check->missing_device.text
				 ? "xrc-compat doctor"
				 : our_command("run --softhca --", check->name);
	if (!failed)
		decision->advice = check->missing_device.advice;
	if (!failed && !check->missing_device.text && check->devices.count && !wanted)
		decision->advice = "use " DEVICES_BETWEEN_MACHINES;
	return device_fault(check, failed);
}

/* The last rule: it always applies. */
static const char *decide_ready(const struct check *check, struct decision *decision)
{
	decision->next = our_command(check->mpi ? "env" : "run --", check->name);
	return check->needs.count ? "it needs the old functions, and libxrc-compat gives them to it"
				  : "it uses no XRC";
}

/* The first rule that applies decides. */
static const struct rule {
	const char *(*decide)(const struct check *check, struct decision *decision);
	enum check_verdict verdict;
} rules[] = {
	{ decide_unreadable, VERDICT_CANNOT_TELL },
	{ decide_not_executable, VERDICT_CANNOT_START },
	{ decide_missing_library, VERDICT_BROKEN },
	{ decide_broken, VERDICT_BROKEN },
	{ decide_launched, VERDICT_CANNOT_TELL },
	{ decide_starter, VERDICT_CANNOT_TELL },
	{ decide_unknown_libraries, VERDICT_CANNOT_TELL },
	{ decide_static_verbs, VERDICT_UNSUPPORTED },
	{ decide_transitional, VERDICT_UNSUPPORTED },
	{ decide_not_needed, VERDICT_NOT_NEEDED },
	{ decide_not_preloadable, VERDICT_NOT_PRELOADABLE },
	{ decide_old_libibverbs, VERDICT_BROKEN },
	{ decide_driver, VERDICT_NO_DEVICE },
	{ decide_device, VERDICT_NO_DEVICE },
	{ decide_ready, VERDICT_READY },
};

/* Says what else `run` preloads, with and without a device. */
static void add_needs(const struct closure *closure, struct decision *decision)
{
	const char *text = decision->reason;

	if (decision->verdict != VERDICT_READY && decision->verdict != VERDICT_NO_DEVICE)
		return;
	for (size_t i = 0; i < closure->companion.count; i++)
		text = format_string("%s%s%s", text,
				     i ? " and " : "; xrc-compat brings along ",
				     basename(closure->companion.item[i]));
	if (closure->old_libibverbs)
		text = format_string("%s; " BRINGS_OLD_LIBIBVERBS
				     ": run puts the system's in its place",
				     text, closure->old_libibverbs);
	decision->reason = text;
}

void check_decide(const struct check *check, struct decision *decision)
{
	const struct rule *rule = rules;

	*decision = (struct decision){ .exit_status = check->run_status };
	while (!(decision->reason = rule->decide(check, decision)))
		rule++;
	decision->verdict = rule->verdict;
	if (verdicts[rule->verdict].status != STATUS_OF_RUN)
		decision->exit_status = verdicts[rule->verdict].status;
	add_needs(&check->closure, decision);
}
