/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The report of `xrc-compat check`, for people and as JSON. Both say the same. */
#include "check.h"
#include "terminal/style.h"
#include "tools/common/json.h"
#include "tools/common/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "1.14.44.0" from the file name behind ".../libibverbs.so.1"; "" if the name has no version. */
static const char *library_version(const char *path)
{
	char real[PATH_MAX];
	const char *version = path && realpath(path, real) ? strstr(real, ".so.") : NULL;

	return version ? copy_string(version + 4) : "";
}

/* ---- for people ---- */

/* One line, without a label if it continues the list. */
static void print_item(const char *label, size_t index, const char *text)
{
	print_line("%-11s %s", index ? "" : label, text);
}

static void print_list(const char *label, const struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		print_item(label, i, list->item[i]);
}

static void print_program(const struct check *check)
{
	const struct program *program = &check->program;
	const struct elf_info *elf = &program->elf;
	const char *text = program->path[0] ? program->path : check->name;

	if (program->binary[0] && program_is_script(program))
		text = format_string("%s (a script for %s)", text, program->binary);
	if (elf->bits)
		text = format_string("%s, %d-bit %s%s", text, elf->bits, elf_info_machine_name(elf),
				     elf_info_is_static(elf) ? ", static" : "");
	print_item("Program", 0, text);
}

static void print_use(const struct legacy_use *use)
{
	for (size_t i = 0; i < use->count; i++) {
		const struct elf_import *import = use->symbol[i].import;

		print_item("Needs", i,
			   format_string("%s@%s, by %s", import->name,
					 import->version ? import->version : "(no version)",
					 use->symbol[i].object->path));
	}
	if (use->run_time)
		print_item("Looks up", 0, format_string("the XRC functions with dlsym(), in %s",
							use->run_time->path));
}

static void print_libibverbs(const struct check *check)
{
	const struct needs *needs = &check->needs;
	const char *system = needs->system_libibverbs;
	const char *path = check->libibverbs ? check->libibverbs->path : system;
	const char *version = library_version(path);

	print_item("libibverbs", 0,
		   path ? format_string("%s%s%s%s",
					check->libibverbs ? "" : "not linked; the system's is ",
					path, version[0] ? ", version " : "", version)
			: "none");
	if (needs->old_libibverbs)
		print_item("", 0,
			   format_string("too old for today's kernels; run puts %s in its place",
					 system ? system : "the system's, of which there is none,"));
	print_list("Companions", &needs->companion);
}

static const char *device_text(const struct device *device)
{
	if (!device->opened)
		return format_string("%s: cannot be opened (%s)", device->name,
				     strerror(device->err));
	return format_string("%s: %s, firmware %s, %s%s", device->name, device->driver,
			     device->firmware[0] ? device->firmware : "unknown",
			     device->xrc ? "XRC" : "no XRC",
			     device->xrc && !device->open_qp
				     ? ", receive QPs of one process only (needs Linux 5.11)"
				     : "");
}

static void print_devices(const struct check *check)
{
	for (size_t i = 0; i < check->devices.count; i++)
		print_item("Devices", i, device_text(&check->devices.device[i]));
	if (!check->devices.count)
		print_item("Devices", 0,
			   format_string("none%s%s", check->devices_error ? ": " : "",
					 check->devices_error ? strerror(-check->devices_error)
							      : ""));
}

void check_print_text(const struct check *check)
{
	const char *advice = check->verdict == VERDICT_NOT_PRELOADABLE ||
					     check->verdict == VERDICT_CANNOT_START
				     ? program_fault_advice(check->fault)
				     : NULL;

	print_program(check);
	if (check->program.elf.bits) {
		print_use(&check->use);
		print_libibverbs(check);
		print_devices(check);
	}
	print_list("Missing", &check->needs.missing);
	print_list("Unresolved", &check->unresolved);
	printf("\nVerdict     ");
	style_print(stdout, STYLE_BOLD, check_verdict_name(check->verdict));
	putchar('\n');
	print_item("", 0, check->reason);
	if (advice)
		print_item("", 0, advice);
	if (check->next)
		print_item("Next", 0, check->next);
}

/* ---- JSON ---- */

static void json_list(struct json *json, const char *key, const struct string_list *list)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < list->count; i++)
		json_string(json, NULL, list->item[i]);
	json_close(json, ']');
}

static void json_use(struct json *json, const struct legacy_use *use)
{
	json_open(json, "needs", '[');
	for (size_t i = 0; i < use->count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "symbol", use->symbol[i].import->name);
		json_string(json, "version", use->symbol[i].import->version);
		json_string(json, "by", use->symbol[i].object->path);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_string(json, "looks_up", use->run_time ? use->run_time->path : NULL);
}

static void json_libraries(struct json *json, const struct check *check)
{
	const struct needs *needs = &check->needs;

	json_open(json, "libibverbs", '{');
	json_string(json, "path", check->libibverbs ? check->libibverbs->path : NULL);
	json_bool(json, "is_old", needs->old_libibverbs != NULL);
	json_string(json, "system", needs->system_libibverbs);
	json_string(json, "system_version", library_version(needs->system_libibverbs));
	json_close(json, '}');
	json_open(json, "libraries", '[');
	for (size_t i = 1; i < check->closure.count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "name", check->closure.object[i].wanted);
		json_string(json, "path", check->closure.object[i].path);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_list(json, "companions", &needs->companion);
	json_list(json, "missing", &needs->missing);
	json_string(json, "loader_gives_up", check->closure.failure);
}

void check_print_json(const struct check *check)
{
	struct json json = { .out = stdout };
	const struct program *program = &check->program;
	const struct elf_info *elf = &program->elf;

	json_open(&json, NULL, '{');
	json_string(&json, "program", program->path[0] ? program->path : check->name);
	json_string(&json, "binary", program->binary[0] ? program->binary : NULL);
	json_number(&json, "bits", elf->bits);
	json_string(&json, "machine", elf->bits ? elf_info_machine_name(elf) : NULL);
	json_bool(&json, "can_be_preloaded", !check->fault);
	json_bool(&json, "static", elf->bits && elf_info_is_static(elf));
	json_use(&json, &check->use);
	json_list(&json, "unresolved", &check->unresolved);
	json_libraries(&json, check);
	json_bool(&json, "mpi", check->mpi);
	json_bool(&json, "starts_programs", check->starter);
	json_string(&json, "starts", check->started);
	devices_print_json(&json, &check->devices);
	json_string(&json, "verdict", check_verdict_name(check->verdict));
	json_string(&json, "reason", check->reason);
	json_string(&json, "next", check->next);
	json_number(&json, "exit_status", check->exit_status);
	json_close(&json, '}');
}
