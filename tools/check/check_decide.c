/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Decides the verdict, the reason and the next command. The first rule that applies counts. */
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

/* Returns true: a rule that decides ends with this call, and no rule after it is asked. */
static bool decided(struct check *check, enum check_verdict verdict, const char *reason)
{
	check->verdict = verdict;
	check->reason = reason;
	if (verdict < VERDICT_NOT_PRELOADABLE)
		check->exit_status = (int)verdict;
	return true;
}

/* @command: a command of ours with its options, without the program. */
static void next_command(struct check *check, const char *command, const char *program)
{
	check->next = format_string("xrc-compat %s %s", command, text_shell_word(program));
}

/* ---- rules ---- */

/* The program cannot be read or executed, or the library cannot be preloaded. */
static bool decide_fault(struct check *check)
{
	if (!check->program.fault)
		return false;
	check->advice = check->program.advice;
	if (check->program.is_unreadable) {
		next_command(check, "env", check->program.path);
		return decided(check, VERDICT_CANNOT_TELL, check->program.fault);
	}
	return decided(check,
		       check->exit_status == TOOL_EXIT_REFUSED ? VERDICT_NOT_PRELOADABLE
							       : VERDICT_CANNOT_START,
		       check->program.fault);
}

/* The program cannot start, whatever functions it uses. */
static bool decide_start(struct check *check)
{
	const char *why = check->closure.failure;

	/* `run` refuses before the loader looks for libraries. */
	if (check->program.fault)
		return check->exit_status != TOOL_EXIT_REFUSED && decide_fault(check);
	if (!why && check->closure.missing.count)
		why = format_string("%s is nowhere to be found", check->closure.missing.item[0]);
	if (!why)
		return false;
	check->exit_status = TOOL_EXIT_NOT_FOUND;
	return decided(check, VERDICT_BROKEN,
		       format_string("the program cannot start: %s", why));
}

/* Without our library `run` refuses. A plugin that cannot be read may need the legacy functions. */
static bool decide_broken(struct check *check)
{
	if (!check->broken)
		return false;
	check->exit_status = TOOL_EXIT_REFUSED;
	return decided(check, VERDICT_BROKEN, check->broken);
}

/* These programs start the ranks of their host. Only a launcher knows how to start them. */
static bool decide_launched(struct check *check)
{
	if (fnmatch("@(mpispawn|orted|prted|hydra_*proxy|pmi_proxy|slurmstepd)",
		    basename(check->program.path), FNM_EXTMATCH))
		return false;
	check->next = "xrc-compat env";
	return decided(check, VERDICT_CANNOT_TELL,
		       "a launcher starts it on each host: ask about the program, and start the launcher by its line of xrc-compat env");
}

static bool decide_starter(struct check *check)
{
	const char *started = check->started, *path = check->program.path;
	bool by_env = check->mpi || find_launcher(path);
	bool is_script = program_is_script(&check->program);
	bool sets_path = is_script && regular_has(path, "LD_LIBRARY_PATH");

	if (!check->starter)
		return false;
	/* If the script sets the path, `check` of the program alone sees other libraries. */
	if (started && !sets_path)
		next_command(check, "check", started);
	else
		next_command(check, format_string("%s%s%s", by_env ? "env" : "run",
						  sets_path ? " --system-libibverbs" : "",
						  by_env ? "" : " --"), check->name);
	return decided(check, VERDICT_CANNOT_TELL,
		       format_string("it starts other programs: ask about %s. "
				     "Start it with xrc-compat %s%s%s",
				     started ? started : "the one that uses InfiniBand",
				     by_env ? "env" : "run",
				     sets_path ? WITH_SYSTEM_LIBIBVERBS : "",
				     is_script ? ", with --companions if a library is missing" : ""));
}

static bool decide_unknown_libraries(struct check *check)
{
	if (!check->closure.unasked)
		return false;
	next_command(check, "run --", check->name);
	return decided(check, VERDICT_CANNOT_TELL,
		       format_string("its libraries are not known: %s", check->closure.unasked));
}

/* A libibverbs of that age has these strings. A stripped program still has them. */
static bool decide_static_verbs(struct check *check)
{
	const char *binary = check->program.binary;

	return !check->closure.libibverbs && regular_has(binary, "infiniband_verbs") &&
	       regular_has(binary, "libibverbs: ") &&
	       decided(check, VERDICT_UNSUPPORTED,
		       "a libibverbs.a is linked into it, which finds no device on today's kernels, and in whose place no "
		       "library can be put; link it with libibverbs.so.1");
}

static bool decide_without_xrc(struct check *check)
{
	/*
	 * A setuid program such as su may start a program with XRC. The libraries of a program for
	 * another C library are not known.
	 */
	if (check->needs.count ||
	    (check->program.fault && (check->starter || check->closure.unasked)))
		return false;
	if (!check->program.fault && (decide_starter(check) || decide_unknown_libraries(check) ||
				      decide_static_verbs(check)))
		return true;
	if (check->transitional)
		return decided(check, VERDICT_UNSUPPORTED,
			       "it uses the interface of 2011 to 2014 that was never released (IBV_XRC_OPS); "
			       "its sources compile for today's libibverbs with the pkg-config package "
			       "xrc-compat-xsrq");
	/* In a static program the functions have no names. */
	return !check->program.elf.is_static && !check->closure.companion.count &&
	       !check->closure.old_libibverbs &&
	       decided(check, VERDICT_NOT_NEEDED,
		       "neither it nor its libraries use the XRC functions of OFED 1.3 to 1.5");
}

/* `run` has nothing to put in place of an old libibverbs. */
static bool decide_old_libibverbs(struct check *check)
{
	const struct closure *closure = &check->closure;

	if (!closure->old_libibverbs || closure->system_libibverbs)
		return false;
	check->exit_status = TOOL_EXIT_NOT_FOUND;
	check->advice = "install the distribution's libibverbs; run then puts it in the place of the old one";
	return decided(check, VERDICT_BROKEN,
		       format_string(BRINGS_OLD_LIBIBVERBS, closure->old_libibverbs));
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
static bool decide_driver(struct check *check)
{
	if (!check->driver_fault || !check->needs.count)
		return false;
	check->next = "xrc-compat doctor";
	check->advice = providers_load_advice();
	return decided(check, VERDICT_NO_DEVICE,
		       format_string("the program's libibverbs cannot load its drivers: %s",
				     check->driver_fault));
}

static bool decide_device(struct check *check)
{
	const struct device *failed = NULL;

	EACH(device, check->devices.device, check->devices.count) {
		if (check->wanted_device && strcmp(check->wanted_device, device->name) != 0)
			continue;
		if (device->xrc)
			return false;
		if (device->err)
			failed = device;
	}
	if (!check->needs.count)
		return false;
	next_command(check, "run --softhca --", check->name);
	if (failed || check->undriven.fault)
		check->next = "xrc-compat doctor";
	check->advice = failed ? NULL : check->undriven.advice;
	if (!failed && !check->undriven.fault && check->devices.count && !check->wanted_device)
		check->advice = "use " DEVICES_BETWEEN_MACHINES;
	return decided(check, VERDICT_NO_DEVICE, device_fault(check, failed));
}

static void decide_ready(struct check *check)
{
	next_command(check, check->mpi ? "env" : "run --", check->name);
	decided(check, VERDICT_READY,
		check->needs.count
			? "it needs the old functions, and libxrc-compat gives them to it"
			: "it uses no XRC");
}

/* Says what else `run` preloads, with and without a device. */
static void add_needs(struct check *check)
{
	const struct closure *closure = &check->closure;
	const char *text = check->reason;

	if (check->verdict != VERDICT_READY && check->verdict != VERDICT_NO_DEVICE)
		return;
	for (size_t i = 0; i < closure->companion.count; i++)
		text = format_string("%s%s%s", text,
				     i ? " and " : "; xrc-compat brings along ",
				     basename(closure->companion.item[i]));
	if (closure->old_libibverbs)
		text = format_string("%s; " BRINGS_OLD_LIBIBVERBS
				     ": run puts the system's in its place",
				     text, closure->old_libibverbs);
	check->reason = text;
}

void check_decide(struct check *check)
{
	if (!decide_start(check) && !decide_broken(check) && !decide_launched(check) &&
	    !decide_without_xrc(check) && !decide_fault(check) && !decide_old_libibverbs(check) &&
	    !decide_driver(check) && !decide_device(check))
		decide_ready(check);
	add_needs(check);
}
