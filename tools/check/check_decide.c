/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Decides the verdict, the reason and the next command. The first rule that applies counts. */
#include "check.h"
#include "tools/common/command.h"
#include "tools/common/text.h"
#include "tools/program/paths.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void verdict(struct check *check, enum check_verdict value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void verdict(struct check *check, enum check_verdict value, const char *format, ...)
{
	va_list args;

	check->verdict = value;
	check->exit_status = (int)value;
	va_start(args, format);
	vsnprintf(check->reason, sizeof(check->reason), format, args);
	va_end(args);
}

/* Cuts off what does not fit. */
static void append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

/* @command: a command of ours with its options, without the program. */
static void next_command(struct check *check, const char *command, const char *program)
{
	char *word = text_shell_word(program);

	snprintf(check->next, sizeof(check->next), "xrc-compat %s %s", command, word);
	free(word);
}

/* The first allowed device that @fits. */
static const struct device *find_device(const struct check *check,
					bool (*fits)(const struct device *device))
{
	for (size_t i = 0; i < check->devices.count; i++) {
		const struct device *device = &check->devices.device[i];

		if (fits(device) &&
		    (!check->wanted_device || !strcmp(check->wanted_device, device->name)))
			return device;
	}
	return NULL;
}

/* A device that could not be opened: its capabilities are unknown. */
static bool is_closed(const struct device *device)
{
	return !device->opened;
}

/* The file cannot be started at all, or it is a library. */
static bool is_no_program(const struct check *check)
{
	static const enum program_fault faults[] = {
		PROGRAM_NOT_FOUND, PROGRAM_NOT_EXECUTABLE, PROGRAM_BAD_FORMAT, PROGRAM_BAD_ELF,
		PROGRAM_NO_LOADER, PROGRAM_LIBRARY, PROGRAM_FOREIGN,
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (check->fault == faults[i])
			return true;
	}
	return false;
}

static void faulty(struct check *check)
{
	char text[2 * PATH_MAX];

	program_fault_text(check->fault, check->name, &check->program, &check->library, text,
			   sizeof(text));
	verdict(check, is_no_program(check) ? VERDICT_CANNOT_START : VERDICT_NOT_PRELOADABLE, "%s",
		text);
	check->exit_status = program_fault_exit(check->fault);
}

static bool uses_xrc(const struct check *check)
{
	return check->use.count || check->use.run_time;
}

/* A plugin that cannot be read may need the legacy functions. */
static bool decide_plugins(struct check *check)
{
	if (!check->unread.count)
		return false;
	verdict(check, VERDICT_BROKEN, "the plugin %s cannot be read, or is no library",
		check->unread.item[0]);
	check->exit_status = TOOL_EXIT_REFUSED;
	return true;
}

/* The program cannot start, whatever functions it uses. */
static bool decide_start(struct check *check)
{
	if (is_no_program(check)) {
		faulty(check);
		if (check->fault == PROGRAM_LIBRARY) {
			next_command(check, "check --plugin", check->name);
			append(check->next, sizeof(check->next), " PROGRAM");
		}
		return true;
	}
	/* `run` refuses before the loader looks for libraries. */
	if (check->fault)
		return false;
	if (check->closure.failure)
		verdict(check, VERDICT_BROKEN, "the program cannot start: %s",
			check->closure.failure);
	else if (check->needs.missing.count)
		verdict(check, VERDICT_BROKEN,
			"the program cannot start: %s is nowhere to be found",
			check->needs.missing.item[0]);
	else
		return false;
	check->exit_status = TOOL_EXIT_NOT_FOUND; /* the loader's */
	return true;
}

/* The program that it starts decides. */
static bool decide_starter(struct check *check)
{
	bool script = strcmp(check->program.path, check->program.binary) != 0;
	const char *found = check->started[0] ? check->started : "the one that uses InfiniBand";

	if (!check->starter || check->fault || uses_xrc(check))
		return false;
	verdict(check, VERDICT_CANNOT_TELL,
		"it starts other programs: ask about %s, and start it as ever, but with xrc-compat %s%s",
		found, check->mpi ? "env" : "run",
		script ? " (--system-libibverbs, if it sets LD_LIBRARY_PATH)" : "");
	next_command(check, "check", check->started[0] ? check->started : "PROGRAM");
	return true;
}

static bool decide_static(struct check *check)
{
	if (!check->static_verbs || check->fault || uses_xrc(check))
		return false;
	verdict(check, VERDICT_UNSUPPORTED,
		"a libibverbs.a is linked into it, which finds no device on today's kernels, and in whose place no "
		"library can be put; link it with libibverbs.so.1");
	return true;
}

static bool decide_need(struct check *check)
{
	if (check->use.dialect == DIALECT_TRANSITIONAL) {
		verdict(check, VERDICT_UNSUPPORTED,
			"it uses the interface of 2011 to 2014 that was never released (IBV_XRC_OPS); "
			"its sources compile for today's libibverbs with the pkg-config package "
			"xrc-compat-xsrq");
		return true;
	}
	/* Of a static program only one thing can be told: whether it contains a libibverbs. */
	if ((check->fault == PROGRAM_STATIC && check->static_verbs) ||
	    check->fault == PROGRAM_PACKED)
		return false;
	if (uses_xrc(check) || check->needs.companion.count || check->needs.old_libibverbs[0])
		return false;
	verdict(check, VERDICT_NOT_NEEDED,
		"neither it nor its libraries use the XRC functions of OFED 1.3 to 1.5");
	return true;
}

/* The library cannot be preloaded. */
static bool decide_preload(struct check *check)
{
	const char *fault;

	if (check->fault) {
		faulty(check);
		return true;
	}
	if (!check->library_path) {
		verdict(check, VERDICT_BROKEN,
			"libxrc-compat.so.1 is not there; is xrc-compat installed completely?");
		check->exit_status = TOOL_EXIT_REFUSED;
		return true;
	}
	fault = paths_preload_fault(check->library_path, &check->library);
	if (!fault)
		return false;
	verdict(check, VERDICT_BROKEN, "%s: %s", check->library_path, fault);
	check->exit_status = TOOL_EXIT_REFUSED;
	return true;
}

/*
 * A program that binds at run time calls dlsym() on a handle of libibverbs. A preloaded library
 * sees that only if it interposes dlsym().
 */
static bool decide_run_time(struct check *check)
{
	if (check->use.count || !check->use.run_time || check->library_has_dlsym)
		return false;
	verdict(check, VERDICT_RUN_TIME,
		"%s finds the functions with dlsym(), which a preloaded library does not see",
		check->use.run_time->path);
	return true;
}

static bool decide_device(struct check *check)
{
	const struct device *closed = find_device(check, is_closed);

	if (find_device(check, device_usable) || !uses_xrc(check))
		return false;
	if (closed) {
		verdict(check, VERDICT_NO_DEVICE,
			"device %s cannot be opened; check the permissions of /dev/infiniband/uverbs*",
			closed->name);
		snprintf(check->next, sizeof(check->next), "xrc-compat doctor");
		return true;
	}
	if (check->wanted_device)
		verdict(check, VERDICT_NO_DEVICE, "device %s is not there or has no XRC",
			check->wanted_device);
	else if (check->devices_error)
		verdict(check, VERDICT_NO_DEVICE, "the devices could not be listed: %s",
			strerror(-check->devices_error));
	else if (check->devices.count)
		verdict(check, VERDICT_NO_DEVICE, "no device on this machine has XRC");
	else
		verdict(check, VERDICT_NO_DEVICE, "there is no RDMA device on this machine");
	next_command(check, "run --softhca --", check->name);
	return true;
}

/* The program needs a function that no library of this machine has. */
static bool decide_unresolved(struct check *check)
{
	if (!check->unresolved.count)
		return false;
	verdict(check, VERDICT_UNSUPPORTED,
		"it also needs %s, which is no function of OFED and not in today's libibverbs",
		check->unresolved.item[0]);
	return true;
}

static bool decide_version(struct check *check)
{
	if (!check->use.unversioned)
		return false;
	verdict(check, VERDICT_UNSUPPORTED,
		"%s was not linked with libibverbs: its reference to ibv_open_device has no version, and so "
		"means the devices of IBVERBS_1.0, which never had XRC; link it with -libverbs",
		check->use.unversioned->path);
	return true;
}

static void decide_ready(struct check *check)
{
	verdict(check, VERDICT_READY,
		uses_xrc(check) ? "it needs the old functions, and libxrc-compat gives them to it"
				: "it uses no XRC");
	next_command(check, check->mpi ? "env" : "run --", check->name);
}

/* Says what else `run` preloads, with and without a device. */
static void add_needs(struct check *check)
{
	if (check->verdict != VERDICT_READY && check->verdict != VERDICT_NO_DEVICE)
		return;
	for (size_t i = 0; i < check->needs.companion.count; i++)
		append(check->reason, sizeof(check->reason), "%s%s",
		       i ? " and " : "; xrc-compat brings along ",
		       strrchr(check->needs.companion.item[i], '/') + 1);
	if (check->needs.old_libibverbs[0])
		append(check->reason, sizeof(check->reason),
		       "; it brings an old libibverbs along (%s), which finds no device on "
		       "today's kernels: run puts the system's in its place",
		       check->needs.old_libibverbs);
}

void check_decide(struct check *check)
{
	bool decided = decide_start(check) || decide_plugins(check) || decide_starter(check) ||
		       decide_static(check) || decide_need(check) || decide_preload(check) ||
		       decide_unresolved(check) || decide_version(check) ||
		       decide_run_time(check) || decide_device(check);

	if (!decided)
		decide_ready(check);
	add_needs(check);
}

const char *check_verdict_name(enum check_verdict value)
{
	static const char *const names[] = {
		[VERDICT_READY] = "ready",
		[VERDICT_NOT_NEEDED] = "not needed",
		[VERDICT_RUN_TIME] = "binds at run time",
		[VERDICT_CANNOT_TELL] = "cannot tell",
		[VERDICT_CANNOT_START] = "cannot start",
		[VERDICT_NOT_PRELOADABLE] = "cannot be preloaded",
		[VERDICT_NO_DEVICE] = "no device",
		[VERDICT_UNSUPPORTED] = "unsupported",
		[VERDICT_BROKEN] = "broken",
	};

	return names[value];
}
