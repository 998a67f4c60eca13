/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Decides the verdict, the reason and the next command: rules[] has the rules in their order. */
#include "check.h"

#include <tools/files/regular.h>
#include <tools/job/launchers.h>
#include <tools/text/command.h>
#include <tools/text/text.h>

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#define BRINGS_OLD_LIBIBVERBS \
	"it brings an old libibverbs along (%s), which finds no device on today's kernels"

#define WITH_SYSTEM_LIBIBVERBS \
	", with --system-libibverbs if an old libibverbs is in the LD_LIBRARY_PATH that it sets"

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

/* @command: a command of ours with its options, without the program. */
static const char *our_command(const char *command, const char *program)
{
	return format_string("xrc-compat %s %s", command, text_shell_word(program));
}

/* ---- rules: each returns true and sets *decision if it applies ---- */

static bool decide_unreadable(const struct check *check, struct decision *decision)
{
	const struct program *program = &check->program;

	if (!program->is_unreadable)
		return false;
	*decision = (struct decision){ VERDICT_CANNOT_TELL, .reason = program->fault,
				       .advice = program->advice,
				       .next = our_command("env", program->path) };
	return true;
}

static bool decide_not_executable(const struct check *check, struct decision *decision)
{
	const struct program *program = &check->program;

	if (!program->fault || check->run_status == TOOL_EXIT_REFUSED)
		return false;
	*decision = (struct decision){ VERDICT_CANNOT_START, .exit_status = check->run_status,
				       .reason = program->fault, .advice = program->advice };
	return true;
}

/* The program cannot start, whatever functions it uses. */
static bool decide_missing_library(const struct check *check, struct decision *decision)
{
	const struct closure *closure = &check->closure;
	const char *why = closure->failure;

	if (!why && closure->missing.count)
		why = format_string("%s is nowhere to be found", closure->missing.item[0]);
	/* `run` refuses before the loader looks for libraries. */
	if (!why || check->program.fault)
		return false;
	*decision = (struct decision){ VERDICT_BROKEN, .exit_status = TOOL_EXIT_NOT_FOUND,
				       .reason = format_string("the program cannot start: %s", why),
				       .advice = check->load_advice };
	return true;
}

/* Without our library `run` refuses. A plugin that cannot be read may need the legacy functions. */
static bool decide_broken(const struct check *check, struct decision *decision)
{
	if (!check->broken)
		return false;
	*decision = (struct decision){ VERDICT_BROKEN, .exit_status = TOOL_EXIT_REFUSED,
				       .reason = check->broken };
	return true;
}

/* These programs start the ranks of their host. Only a launcher knows how to start them. */
static bool decide_launched(const struct check *check, struct decision *decision)
{
	if (fnmatch("@(mpispawn|orted|prted|hydra_*proxy|pmi_proxy|slurmstepd)",
		    basename(check->program.path), FNM_EXTMATCH))
		return false;
	*decision = (struct decision){
		VERDICT_CANNOT_TELL,
		.reason =
			"a launcher starts it on each host: ask about the program, and start the launcher by its line of xrc-compat env",
		.next = "xrc-compat env"
	};
	return true;
}

static bool decide_starter(const struct check *check, struct decision *decision)
{
	const char *started = check->started, *path = check->program.path;
	bool by_env = check->mpi || find_launcher(path);
	bool is_script = program_is_script(&check->program);
	bool sets_path = is_script && regular_has(path, "LD_LIBRARY_PATH");
	const char *start =
		format_string("%s%s%s", by_env ? "env" : "run",
			      sets_path ? " --system-libibverbs" : "", by_env ? "" : " --");

	if (check->needs.count || check->program.fault || !check->starter)
		return false;
	*decision = (struct decision){
		VERDICT_CANNOT_TELL,
		.reason = format_string(
			"it starts other programs: ask about %s. "
			"Start it with xrc-compat %s%s%s",
			started ? started : "the one that uses InfiniBand", by_env ? "env" : "run",
			sets_path ? WITH_SYSTEM_LIBIBVERBS : "",
			is_script ? ", with --companions if a library is missing" : ""),
		/* If the script sets the path, `check` of the program sees other libraries. */
		.next = started && !sets_path ? our_command("check", started)
					      : our_command(start, check->name)
	};
	return true;
}

static bool decide_unknown_libraries(const struct check *check, struct decision *decision)
{
	if (check->needs.count || check->program.fault || !check->closure.unasked)
		return false;
	*decision = (struct decision){
		VERDICT_CANNOT_TELL,
		.reason = format_string("its libraries are not known: %s", check->closure.unasked),
		.next = our_command("run --", check->name)
	};
	return true;
}

/* A libibverbs of that age has these strings. A stripped program still has them. */
static bool decide_static_verbs(const struct check *check, struct decision *decision)
{
	const char *binary = check->program.binary;

	if (check->needs.count || check->program.fault || check->closure.libibverbs ||
	    !regular_has(binary, "infiniband_verbs") || !regular_has(binary, "libibverbs: "))
		return false;
	*decision = (struct decision){
		VERDICT_UNSUPPORTED,
		.reason =
			"a libibverbs.a is linked into it, which finds no device on today's kernels, and in whose place no "
			"library can be put; link it with libibverbs.so.1"
	};
	return true;
}

/*
 * Whether a refused program may use XRC all the same: a setuid program such as su may start a
 * program with XRC, and the libraries of a program for another C library are not known.
 */
static bool may_use_xrc(const struct check *check)
{
	return check->program.fault && (check->starter || check->closure.unasked);
}

static bool decide_transitional(const struct check *check, struct decision *decision)
{
	if (check->needs.count || may_use_xrc(check) || !check->transitional)
		return false;
	*decision = (struct decision){
		VERDICT_UNSUPPORTED,
		.reason =
			"it uses the interface of 2011 to 2014 that was never released (IBV_XRC_OPS); "
			"its sources compile for today's libibverbs with the pkg-config package "
			"xrc-compat-xsrq"
	};
	return true;
}

static bool decide_not_needed(const struct check *check, struct decision *decision)
{
	const struct closure *closure = &check->closure;

	/* In a static program the functions have no names. */
	if (check->needs.count || may_use_xrc(check) || check->program.elf.is_static ||
	    closure->companion.count || closure->old_libibverbs)
		return false;
	*decision = (struct decision){
		VERDICT_NOT_NEEDED,
		.reason = "neither it nor its libraries use the XRC functions of OFED 1.3 to 1.5"
	};
	return true;
}

static bool decide_not_preloadable(const struct check *check, struct decision *decision)
{
	const struct program *program = &check->program;

	if (!program->fault)
		return false;
	*decision = (struct decision){ VERDICT_NOT_PRELOADABLE, .exit_status = check->run_status,
				       .reason = program->fault, .advice = program->advice };
	return true;
}

/* `run` has nothing to put in place of an old libibverbs. */
static bool decide_old_libibverbs(const struct check *check, struct decision *decision)
{
	const struct closure *closure = &check->closure;

	if (!closure->old_libibverbs || closure->system_libibverbs)
		return false;
	*decision = (struct decision){
		VERDICT_BROKEN, .exit_status = TOOL_EXIT_NOT_FOUND,
		.reason = format_string(BRINGS_OLD_LIBIBVERBS, closure->old_libibverbs),
		.advice =
			"install the distribution's libibverbs; run then puts it in the place of the old one"
	};
	return true;
}

/* Why no device is usable. @failed: a device that cannot be opened or queried, or NULL. */
static const char *device_fault(const struct check *check, const struct device *failed)
{
	if (failed)
		return format_string("device %s %s%s", failed->name, device_text(failed),
				     failed->err == EACCES || failed->err == EPERM
					     ? "; check the permissions of /dev/infiniband/uverbs*"
					     : "");
	if (check->devices_error)
		return format_string("the devices could not be listed: %s", check->devices_error);
	if (check->undriven.fault)
		return check->undriven.fault;
	if (check->wanted_device)
		return format_string("device %s was not found or has no XRC", check->wanted_device);
	return check->devices.count ? format_string("no device on this machine has XRC: %s",
						    devices_without_xrc(&check->devices))
				    : "there is no RDMA device on this machine";
}

/* The program starts, and finds no device, although this command may find devices. */
static bool decide_driver(const struct check *check, struct decision *decision)
{
	if (!check->driver_fault || !check->needs.count)
		return false;
	*decision = (struct decision){
		VERDICT_NO_DEVICE,
		.reason = format_string("the program's libibverbs cannot load its drivers: %s",
					check->driver_fault),
		.advice = providers_load_advice(), .next = "xrc-compat doctor"
	};
	return true;
}

static bool decide_device(const struct check *check, struct decision *decision)
{
	const char *wanted = check->wanted_device;
	const struct device *failed = NULL;

	EACH(device, check->devices.device, check->devices.count) {
		if (wanted && strcmp(wanted, device->name) != 0)
			continue;
		if (device->xrc)
			return false;
		if (device->err)
			failed = device;
	}
	if (!check->needs.count)
		return false;
	*decision = (struct decision){ VERDICT_NO_DEVICE, .reason = device_fault(check, failed),
				       .next = our_command("run --softhca --", check->name) };
	if (failed || check->undriven.fault)
		decision->next = "xrc-compat doctor";
	if (!failed)
		decision->advice = check->undriven.advice;
	if (!failed && !check->undriven.fault && check->devices.count && !wanted)
		decision->advice = "use " DEVICES_BETWEEN_MACHINES;
	return true;
}

/* The last rule: it always applies. */
static bool decide_ready(const struct check *check, struct decision *decision)
{
	*decision = (struct decision){
		VERDICT_READY,
		.reason = check->needs.count
				  ? "it needs the old functions, and libxrc-compat gives them to it"
				  : "it uses no XRC",
		.next = our_command(check->mpi ? "env" : "run --", check->name)
	};
	return true;
}

/* The first rule that applies decides. */
static bool (*const rules[])(const struct check *check, struct decision *decision) = {
	decide_unreadable,
	decide_not_executable,
	decide_missing_library,
	decide_broken,
	decide_launched,
	decide_starter,
	decide_unknown_libraries,
	decide_static_verbs,
	decide_transitional,
	decide_not_needed,
	decide_not_preloadable,
	decide_old_libibverbs,
	decide_driver,
	decide_device,
	decide_ready,
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
	size_t rule = 0;

	while (!rules[rule](check, decision))
		rule++;
	if (verdicts[decision->verdict].status != STATUS_OF_RUN)
		decision->exit_status = verdicts[decision->verdict].status;
	add_needs(&check->closure, decision);
}
