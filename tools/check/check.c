/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat check`: whether a program runs here, and by which command. It executes nothing of the
 * program.
 */
#include "check.h"
#include "tools/common/command.h"
#include "tools/common/message.h"
#include "tools/common/options.h"
#include "tools/program/paths.h"

#include <stdlib.h>
#include <string.h>

struct check_options {
	const char *program;
	const char *device;
	struct string_list plugins;
	bool json;
};

static int parse(const struct command *self, char **argv, struct check_options *options)
{
	struct option_words words = { self, argv + 1, NULL };
	int option;

	while ((option = options_next(&words)) > 0) {
		if (option == 'd')
			options->device = words.value;
		else if (option == 'p')
			string_list_add(&options->plugins, words.value);
		else if (option == 'j')
			options->json = true;
		else if (options->program)
			return refuse_word(self, words.value);
		else
			options->program = words.value;
	}
	if (option || options->program)
		return option ? TOOL_EXIT_REFUSED : 0;
	refuse(0, "check: no program given");
	return advise_usage(self);
}

/*
 * Functions that the program imports and the system's libibverbs lacks, as the experimental verbs
 * of MLNX_OFED.
 */
static void read_unresolved(struct check *check)
{
	const char *path = check->needs.system_libibverbs;
	struct elf_info system;

	if (!path || elf_info_read(path, &system))
		return;
	for (size_t i = 0; i < check->closure.count; i++) {
		const struct elf_info *elf = &check->closure.object[i].elf;

		for (size_t j = 0; j < elf->import_count; j++) {
			const struct elf_import *import = &elf->import[j];

			if (!import->weak && import->version &&
			    !strncmp(import->version, "IBVERBS_", 8) &&
			    !legacy_name(import->name) &&
			    !string_list_has(&system.export, import->name))
				string_list_add(&check->unresolved, import->name);
		}
	}
}

/* Sorts the plugins that can be read from those that cannot. */
static void read_plugins(struct check *check, const struct string_list *wanted,
			 struct string_list *readable)
{
	for (size_t i = 0; i < wanted->count; i++) {
		char path[PATH_MAX];
		struct elf_info elf;

		if (!realpath(wanted->item[i], path) || strpbrk(path, ": $") ||
		    elf_info_read(path, &elf))
			string_list_add(&check->unread, wanted->item[i]);
		else
			string_list_add(readable, path);
	}
}

static void read_libraries(struct check *check, const struct check_options *options)
{
	struct program *program = &check->program;
	struct string_list plugins = { 0 };

	read_plugins(check, &options->plugins, &plugins);
	closure_read(program->binary, &program->elf, &plugins, &check->closure);
	needs_read(&check->closure, &check->needs);
	legacy_use_read(&check->closure, &check->use);
	check->libibverbs = closure_find(&check->closure, "libibverbs.so.1");
	check->starter = starter_is_one(program);
	check->started = check->starter ? starter_find_program(program, NULL) : NULL;
	check->static_verbs = !check->libibverbs && !check->starter &&
			      legacy_is_in_file(program->binary);
	check->mpi = closure_has_mpi(&check->closure) || starter_is_mpi(program);
	read_unresolved(check);
}

static void read_all(struct check *check, const struct check_options *options)
{
	struct string_list places = { 0 };

	check->fault = program_open(options->program, &check->program);
	check->library_fault = paths_preload_fault(
		paths_shim(check->program.elf.bits, &places), &check->library);
	if (check->fault)
		return;
	/* Without our library only the comparison of word sizes is missing. */
	check->fault = program_preload_fault(&check->program, check->library.bits
								      ? &check->library
								      : &check->program.elf);
	read_libraries(check, options);
	check->devices_error = devices_read(libibverbs_for_tools(), &check->devices);
}

int command_check(const struct command *self, int argc, char **argv)
{
	static struct check check; /* large, and zeroed */
	struct check_options options = { 0 };
	int status = parse(self, argv, &options);

	(void)argc;
	if (status)
		return status;
	check.name = options.program;
	check.wanted_device = options.device;
	read_all(&check, &options);
	check_decide(&check);
	check_print(&check, options.json);
	return check.exit_status;
}
