/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* From the facts to the verdict, the reason and the next command. The first rule that applies decides. */
#include "check.h"
#include "tools/common/command.h"
#include "tools/common/text.h"
#include "tools/program/paths.h"

#include <stdarg.h>
#include <stdio.h>
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

/* As $'...', from which bash, ksh and zsh get the same bytes back. */
static const char *escaped_word(const char *name, char *buffer, size_t size)
{
	size_t used = (size_t)snprintf(buffer, size, "$'");

	while (*name && used + 8 < size) {
		size_t length = text_character(name);

		if (!length)
			used += (size_t)snprintf(buffer + used, size - used, "\\%03o", (unsigned char)*name);
		else
			used += (size_t)snprintf(buffer + used, size - used, "%s%.*s", strchr("'\\", *name) ? "\\" : "",
						 (int)length, name);
		name += length ? length : 1;
	}
	snprintf(buffer + used, size - used, "'");
	return buffer;
}

static bool is_printable(const char *text)
{
	while (*text && text_character(text))
		text += text_character(text);
	return !*text;
}

/* The name as a shell word. */
static const char *word(const char *name, char *buffer, size_t size)
{
	size_t used = 0;

	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=:,@%")] == '\0')
		return name;
	if (!is_printable(name))
		return escaped_word(name, buffer, size);
	buffer[used++] = '\'';
	for (; *name && used + 6 < size; name++) {
		if (*name == '\'') {
			memcpy(buffer + used, "'\\''", 4);
			used += 4;
		} else {
			buffer[used++] = *name;
		}
	}
	buffer[used++] = '\'';
	buffer[used] = '\0';
	return buffer;
}

static void next_run(struct check *check, const char *prefix, const char *options)
{
	char buffer[2 * PATH_MAX];

	snprintf(check->next, sizeof(check->next), "%sxrc-compat run %s-- %s", prefix, options,
		 word(check->name, buffer, sizeof(buffer)));
}

/* Of those that may be used, the first that @fits. */
static const struct device *find_device(const struct check *check, bool (*fits)(const struct device *device))
{
	for (size_t i = 0; i < check->devices.count; i++) {
		const struct device *device = &check->devices.device[i];

		if (fits(device) && (!check->wanted_device || !strcmp(check->wanted_device, device->name)))
			return device;
	}
	return NULL;
}

/* Whether it has XRC is not known. */
static bool is_closed(const struct device *device)
{
	return !device->opened;
}

static void not_preloadable(struct check *check)
{
	char text[2 * PATH_MAX];

	program_fault_text(check->fault, check->name, &check->program, &check->library, text, sizeof(text));
	verdict(check, VERDICT_NOT_PRELOADABLE, "%s", text);
	check->exit_status = program_fault_exit(check->fault);
}

/* What `run` cannot start at all, or what is no program but a library. */
static bool is_no_program(enum program_fault fault)
{
	return fault == PROGRAM_NOT_FOUND || fault == PROGRAM_NOT_EXECUTABLE || fault == PROGRAM_BAD_FORMAT ||
	       fault == PROGRAM_BAD_ELF || fault == PROGRAM_NO_LOADER || fault == PROGRAM_LIBRARY;
}

static void next_plugin(struct check *check)
{
	char buffer[2 * PATH_MAX];

	snprintf(check->next, sizeof(check->next), "xrc-compat check --plugin %s PROGRAM",
		 word(check->name, buffer, sizeof(buffer)));
}

/* A plugin that cannot be read may need the legacy functions or not. */
static bool decide_plugins(struct check *check)
{
	if (!check->unread.count)
		return false;
	verdict(check, VERDICT_BROKEN, "the plugin %s cannot be read, or is no library", check->unread.item[0]);
	check->exit_status = TOOL_EXIT_REFUSED;
	return true;
}

/* Why the program cannot start, whatever functions it uses. */
static bool decide_start(struct check *check)
{
	if (is_no_program(check->fault)) {
		not_preloadable(check);
		if (check->fault == PROGRAM_LIBRARY)
			next_plugin(check);
		return true;
	}
	/* `run` refuses before the loader could look for libraries. */
	if (check->fault)
		return false;
	if (check->closure.missing.count)
		verdict(check, VERDICT_BROKEN, "the program cannot start: %s is nowhere to be found",
			check->closure.missing.item[0]);
	else if (check->closure.damaged.count)
		verdict(check, VERDICT_BROKEN, "the program cannot start: %s is what the loader would take, but no library",
			check->closure.damaged.item[0]);
	else
		return false;
	check->exit_status = TOOL_EXIT_NOT_FOUND; /* the loader's */
	return true;
}

static bool decide_need(struct check *check)
{
	if (check->use.dialect == DIALECT_TRANSITIONAL) {
		verdict(check, VERDICT_UNSUPPORTED, "it uses the interface of 2011 to 2014 that was never released (IBV_XRC_OPS); "
						    "its sources compile for today's libibverbs with the pkg-config package "
						    "xrc-compat-xsrq");
		return true;
	}
	/* Of a static program only this is known: whether it contains a libibverbs at all. Of a packed one nothing. */
	if (check->fault == PROGRAM_PACKED || (check->fault == PROGRAM_STATIC && check->static_verbs))
		return false;
	if (!check->use.count && !check->use.run_time) {
		verdict(check, VERDICT_NOT_NEEDED, "neither it nor its libraries use the XRC functions of OFED 1.3 to 1.5");
		return true;
	}
	return false;
}

/* Why the library cannot be preloaded. */
static bool decide_preload(struct check *check)
{
	const char *fault;

	if (check->fault) {
		not_preloadable(check);
		return true;
	}
	if (!check->library_path) {
		verdict(check, VERDICT_BROKEN, "libxrc-compat.so.1 is not there; is xrc-compat installed completely?");
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

/* A program that binds at run time calls dlsym() on a handle of libibverbs. A preloaded library sees that only if it interposes dlsym(). */
static bool decide_run_time(struct check *check)
{
	if (check->use.count || check->library_has_dlsym)
		return false;
	verdict(check, VERDICT_RUN_TIME, "%s finds the functions with dlsym(), which a preloaded library does not see",
		check->use.run_time->path);
	return true;
}

static bool decide_device(struct check *check)
{
	const struct device *closed = find_device(check, is_closed);

	if (find_device(check, device_usable))
		return false;
	if (closed) {
		verdict(check, VERDICT_NO_DEVICE, "device %s cannot be opened; check the permissions of /dev/infiniband/uverbs*", closed->name);
		snprintf(check->next, sizeof(check->next), "xrc-compat doctor");
		return true;
	}
	if (check->wanted_device)
		verdict(check, VERDICT_NO_DEVICE, "device %s is not there or has no XRC", check->wanted_device);
	else if (check->devices_error)
		verdict(check, VERDICT_NO_DEVICE, "the devices could not be listed: %s", strerror(-check->devices_error));
	else if (check->devices.count)
		verdict(check, VERDICT_NO_DEVICE, "no device on this machine has XRC");
	else
		verdict(check, VERDICT_NO_DEVICE, "there is no RDMA device on this machine");
	next_run(check, "", "--softhca ");
	return true;
}

/* The program needs a function that no library here has. */
static bool decide_unresolved(struct check *check)
{
	if (!check->unresolved.count)
		return false;
	verdict(check, VERDICT_UNSUPPORTED, "it also needs %s, which is no function of OFED and not in today's libibverbs",
		check->unresolved.item[0]);
	return true;
}

static bool decide_version(struct check *check)
{
	if (!check->use.unversioned)
		return false;
	verdict(check, VERDICT_UNSUPPORTED, "%s was not linked with libibverbs: its reference to ibv_open_device has no version, and so "
					    "means the devices of IBVERBS_1.0, which never had XRC; link it with -libverbs",
		check->use.unversioned->path);
	return true;
}

static void decide_ready(struct check *check)
{
	char prefix[PATH_MAX + 16] = "";

	if (!check->libibverbs_is_old) {
		verdict(check, VERDICT_READY, "it needs the old functions, and libxrc-compat gives them to it");
	} else {
		/* Its SONAME satisfies the program's need, so that the old one is never loaded. */
		snprintf(prefix, sizeof(prefix), "LD_PRELOAD=%s ", check->system_libibverbs);
		verdict(check, VERDICT_READY, "it brings an old libibverbs along (%s), which cannot work with today's kernel; "
					      "the system's must take its place", check->libibverbs->path);
	}
	next_run(check, prefix, "");
}

void check_decide(struct check *check)
{
	bool decided = decide_start(check) || decide_plugins(check) || decide_need(check) || decide_preload(check) ||
		       decide_unresolved(check) || decide_version(check) || decide_run_time(check) || decide_device(check);

	if (!decided)
		decide_ready(check);
}

const char *check_verdict_name(enum check_verdict value)
{
	static const char *const names[] = {
		[VERDICT_READY] = "ready",
		[VERDICT_NOT_NEEDED] = "not needed",
		[VERDICT_RUN_TIME] = "binds at run time",
		[VERDICT_NOT_PRELOADABLE] = "cannot be preloaded",
		[VERDICT_NO_DEVICE] = "no device",
		[VERDICT_UNSUPPORTED] = "unsupported",
		[VERDICT_BROKEN] = "broken",
	};

	return names[value];
}
