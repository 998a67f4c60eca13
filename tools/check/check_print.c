/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The report of `xrc-compat check`, for people and as JSON. Both say the same. */
#include "check.h"
#include "terminal/style.h"
#include "tools/common/json.h"
#include "tools/common/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1.14.44.0" from the file name behind ".../libibverbs.so.1"; "" if the name has no version. */
static const char *library_version(const char *path, char *buffer)
{
	const char *version;

	if (!path || !path[0] || !realpath(path, buffer))
		return "";
	version = strstr(buffer, ".so.");
	return version ? version + 4 : "";
}

static void print_program(const struct check *check)
{
	const struct program *program = &check->program;
	const struct elf_info *elf = &program->elf;
	const char *name = program->path[0] ? program->path : check->name;
	char script[PATH_MAX + 32] = "";
	char kind[128] = "";

	if (program->binary[0] && strcmp(program->path, program->binary))
		snprintf(script, sizeof(script), " (a script for %s)", program->binary);
	if (elf->bits)
		snprintf(kind, sizeof(kind), ", %d-bit %s%s%s", elf->bits,
			 elf_info_machine_name(elf), elf_info_is_static(elf) ? ", static" : "",
			 elf->bind_now ? ", binds at start" : "");
	print_line("Program     %s%s%s", name, script, kind);
}

static void print_dialect(const struct legacy_use *use)
{
	const char *direction = legacy_direction_name(use->direction);

	if (!use->dialect)
		return;
	print_line("Dialect     %s%s%s%s%s%s", legacy_dialect_name(use->dialect),
		   direction ? ", " : "", direction ? direction : "",
		   use->later ? " (OFED 1.5 had no " : "", use->later ? use->later : "",
		   use->later ? ")" : "");
}

static void print_use(const struct check *check)
{
	for (size_t i = 0; i < check->use.count; i++) {
		const struct legacy_symbol *symbol = &check->use.symbol[i];

		print_line("%s%s@%s, by %s", i ? "            " : "Needs       ",
			   symbol->import->name,
			   symbol->import->version ? symbol->import->version : "(no version)",
			   symbol->object->path);
	}
	if (check->use.run_time)
		print_line("Looks up    the XRC functions with dlsym(), in %s",
			   check->use.run_time->path);
	print_dialect(&check->use);
}

static void print_libibverbs(const struct check *check)
{
	const struct needs *needs = &check->needs;
	const char *path = check->libibverbs ? check->libibverbs->path : needs->system_libibverbs;
	char buffer[PATH_MAX];

	if (!path[0])
		print_line("libibverbs  none");
	else
		print_line("libibverbs  %s%s%s%s",
			   check->libibverbs ? "" : "not linked; the system's is ", path,
			   library_version(path, buffer)[0] ? ", version " : "",
			   library_version(path, buffer));
	if (needs->old_libibverbs[0])
		print_line("            too old for today's kernels; run puts %s in its place",
			   needs->system_libibverbs[0] ? needs->system_libibverbs
						       : "the system's, of which there is none,");
	for (size_t i = 0; i < needs->companion.count; i++)
		print_line("%s%s", i ? "            " : "Companions  ", needs->companion.item[i]);
}

static void print_device(const char *label, const struct device *device)
{
	if (!device->opened) {
		print_line("%s%s: cannot be opened (%s)", label, device->name,
			   strerror(device->err));
		return;
	}
	print_line("%s%s: %s, firmware %s, %s%s", label, device->name, device->driver,
		   device->firmware[0] ? device->firmware : "unknown",
		   device->xrc ? "XRC" : "no XRC",
		   device->xrc && !device->open_qp
			   ? ", receive QPs of one process only (needs Linux 5.11)"
			   : "");
}

static void print_devices(const struct check *check)
{
	for (size_t i = 0; i < check->devices.count; i++)
		print_device(i ? "            " : "Devices     ", &check->devices.device[i]);
	if (!check->devices.count)
		print_line("Devices     none%s%s", check->devices_error ? ": " : "",
			   check->devices_error ? strerror(-check->devices_error) : "");
}

static void print_list(const char *label, const struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		print_line("%s%s", label, list->item[i]);
}

void check_print_text(const struct check *check)
{
	const char *advice = check->verdict == VERDICT_NOT_PRELOADABLE ||
					     check->verdict == VERDICT_CANNOT_START
				     ? program_fault_advice(check->fault)
				     : NULL;

	print_program(check);
	if (check->program.elf.bits) {
		print_use(check);
		print_libibverbs(check);
		print_devices(check);
	}
	print_list("Missing     ", &check->needs.missing);
	print_list("Unresolved  ", &check->unresolved);
	print_line("%s", "");
	printf("Verdict     ");
	style_print(stdout, STYLE_BOLD, check_verdict_name(check->verdict));
	putchar('\n');
	print_line("            %s", check->reason);
	if (advice)
		print_line("            %s", advice);
	if (check->next[0])
		print_line("Next        %s", check->next);
}

static void json_list(struct json *json, const char *key, const struct string_list *list)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < list->count; i++)
		json_string(json, NULL, list->item[i]);
	json_close(json, ']');
}

static void json_use(struct json *json, const struct check *check)
{
	json_open(json, "needs", '[');
	for (size_t i = 0; i < check->use.count; i++) {
		const struct legacy_symbol *symbol = &check->use.symbol[i];

		json_open(json, NULL, '{');
		json_string(json, "symbol", symbol->import->name);
		json_string(json, "version", symbol->import->version);
		json_string(json, "library", symbol->import->library);
		json_string(json, "by", symbol->object->path);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_string(json, "looks_up", check->use.run_time ? check->use.run_time->path : NULL);
	json_list(json, "unresolved", &check->unresolved);
	json_string(json, "dialect", legacy_dialect_name(check->use.dialect));
	json_string(json, "dialect_shown_by", check->use.later);
	json_string(json, "direction", legacy_direction_name(check->use.direction));
}

static void json_libraries(struct json *json, const struct check *check)
{
	char buffer[PATH_MAX];

	json_open(json, "libibverbs", '{');
	json_string(json, "path", check->libibverbs ? check->libibverbs->path : NULL);
	json_bool(json, "is_old", check->needs.old_libibverbs[0] != '\0');
	json_string(json, "system",
		    check->needs.system_libibverbs[0] ? check->needs.system_libibverbs : NULL);
	json_string(json, "system_version",
		    library_version(check->needs.system_libibverbs, buffer));
	json_close(json, '}');
	json_open(json, "libraries", '[');
	for (size_t i = 1; i < check->closure.count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "name", check->closure.object[i]->wanted);
		json_string(json, "path", check->closure.object[i]->path);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_list(json, "companions", &check->needs.companion);
	json_list(json, "missing", &check->needs.missing);
	json_string(json, "loader_gives_up", check->closure.failure);
	json_bool(json, "mpi", check->mpi);
	json_bool(json, "starts_programs", check->starter);
	json_string(json, "starts", check->started[0] ? check->started : NULL);
}

static void json_devices(struct json *json, const struct check *check)
{
	json_open(json, "devices", '[');
	for (size_t i = 0; i < check->devices.count; i++) {
		const struct device *device = &check->devices.device[i];

		json_open(json, NULL, '{');
		json_string(json, "name", device->name);
		json_string(json, "driver", device->driver);
		json_string(json, "firmware", device->firmware);
		json_bool(json, "opened", device->opened);
		json_bool(json, "xrc", device->xrc);
		json_bool(json, "open_qp", device->open_qp);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void check_print_json(const struct check *check)
{
	struct json json = { .out = stdout };
	const struct elf_info *elf = &check->program.elf;

	json_open(&json, NULL, '{');
	json_string(&json, "program", check->program.path[0] ? check->program.path : check->name);
	json_string(&json, "binary", check->program.binary[0] ? check->program.binary : NULL);
	json_number(&json, "bits", elf->bits);
	json_string(&json, "machine", elf->bits ? elf_info_machine_name(elf) : NULL);
	json_bool(&json, "can_be_preloaded", !check->fault);
	json_bool(&json, "static", elf->bits && elf_info_is_static(elf));
	json_bool(&json, "binds_at_start", elf->bind_now);
	json_use(&json, check);
	json_libraries(&json, check);
	json_devices(&json, check);
	json_string(&json, "verdict", check_verdict_name(check->verdict));
	json_string(&json, "reason", check->reason);
	json_string(&json, "next", check->next[0] ? check->next : NULL);
	json_number(&json, "exit_status", check->exit_status);
	json_close(&json, '}');
}
