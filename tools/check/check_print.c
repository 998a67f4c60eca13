/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The report of `xrc-compat check`, for people or as JSON, in the same order. People do not see
 * members without a value, booleans, the list of libraries and the exit status.
 */
#include "check.h"

#include <tools/text/json.h>
#include <tools/text/message.h>

#include <stdio.h>

/* Only a report as JSON has a stream in @json. */
static void print_value(struct json *json, const char *key, const char *label, const char *value)
{
	json_string(json, key, value);
	if (!json->out && value)
		print_line("%-11s %s", label, value);
}

static void print_list(struct json *json, const char *key, const char *label,
		       const struct string_list *list)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < list->count; i++)
		print_value(json, NULL, i ? "" : label, list->item[i]);
	json_close(json, ']');
}

static void print_devices(struct json *json, const struct check *check)
{
	const struct device_list *devices = &check->devices;

	devices_print_json(json, devices);
	if (json->out)
		return;
	for (size_t i = 0; i < devices->count; i++)
		print_line("%-11s %s: %s", i ? "" : "Devices", devices->device[i].name,
			   device_text(&devices->device[i]));
	if (!devices->count && check->program.elf.bits)
		print_line("%-11s %s", "Devices",
			   check->devices_error		? check->devices_error
			   : check->missing_device.text ? "none with a driver in libibverbs"
							: "none");
}

static void print_program(struct json *json, const struct check *check)
{
	const struct program *program = &check->program;
	const struct elf_info *elf = &program->elf;

	print_value(json, "program", "Program", program->path ? program->path : check->name);
	print_value(json, "interpreter", "Script for",
		    program->binary && program_is_script(program) ? program->binary : NULL);
	print_value(json, "machine", "Machine", elf->bits ? elf_info_machine_name(elf) : NULL);
	json_bool(json, "static", elf->is_static);
	json_bool(json, "can_be_preloaded", !program->fault || program->is_unreadable);
	json_bool(json, "starts_programs", check->starter);
	print_value(json, "starts", "Starts", check->started);
	json_bool(json, "mpi", check->mpi);
	print_value(json, "platform_mpi", "MPI",
		    !check->platform_mpi ? NULL
		    : ib_core_is_listed()
			    ? "HP-MPI or Platform MPI: XRC by mpirun -xrc, before 2.3 by -srq -e MPI_IBV_XRC=1; -prot says what is used"
			    : "HP-MPI or Platform MPI: lsmod must list ib_core, or it uses no InfiniBand; see xrc-compat doctor");
}

static void print_libraries(struct json *json, const struct check *check)
{
	const struct closure *closure = &check->closure;

	print_list(json, "needs", "Needs", &check->needs);
	print_value(json, "direction", "Direction",
		    !check->needs.count ? NULL : check->receive_qps ? "one-way" : "two-way");
	print_value(json, "libibverbs", "libibverbs", closure->libibverbs);
	print_value(json, "old_libibverbs", "too old", closure->old_libibverbs);
	print_value(json, "system_libibverbs", "system's", closure->system_libibverbs);
	/* Only as JSON: "NAME => FILE" for each library that the loader finds. */
	json_open(json, "libraries", '[');
	for (size_t i = 1; i < closure->count; i++)
		json_string(json, NULL, format_string("%s => %s", closure->object[i].wanted,
						      closure->object[i].path));
	json_close(json, ']');
	print_list(json, "companions", "Companions", &closure->companion);
	print_list(json, "missing", "Missing", &closure->missing);
	print_list(json, "missing_for_plugins", "For plugins", &closure->plugin_missing);
	print_value(json, "loader_gives_up", "Loader", closure->failure);
	print_devices(json, check);
}

static void print_decision(struct json *json, const struct decision *decision)
{
	const char *verdict = verdicts[decision->verdict].name;

	json_string(json, "verdict", verdict);
	if (!json->out) {
		fputs("\nVerdict     ", stdout);
		print_styled(STYLE_BOLD, verdict);
		putchar('\n');
	}
	print_value(json, "reason", "", decision->reason);
	print_value(json, "advice", "", decision->advice);
	print_value(json, "next", "Next", decision->next);
	json_number(json, "exit_status", decision->exit_status);
}

void check_print(const struct check *check, const struct decision *decision, bool as_json)
{
	struct json json = { .out = as_json ? stdout : NULL };

	json_open(&json, NULL, '{');
	print_program(&json, check);
	print_libraries(&json, check);
	print_decision(&json, decision);
	json_close(&json, '}');
}
