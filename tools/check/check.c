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
#include "tools/program/starter.h"

#include <stdio.h>
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

/* Reads our own library: its class, and whether it answers dlsym(). */
static void read_library(struct check *check, struct path_candidates *candidates)
{
	check->library_path = paths_library_of(check->program.elf.bits, candidates);
	if (check->library_path && elf_info_read(check->library_path, &check->library))
		check->library_path = NULL;
	if (check->library_path)
		check->library_has_dlsym = string_list_has(&check->library.export, "dlsym");
}

/*
 * Functions that the program imports and the system's libibverbs lacks, as the experimental verbs
 * of MLNX_OFED.
 */
static void read_unresolved(struct check *check)
{
	struct elf_info system;

	if (!check->needs.system_libibverbs[0] ||
	    elf_info_read(check->needs.system_libibverbs, &system))
		return;
	for (size_t i = 0; i < check->closure.count; i++) {
		const struct elf_info *elf = &check->closure.object[i]->elf;

		for (size_t j = 0; j < elf->import_count; j++) {
			const struct elf_import *import = &elf->import[j];

			if (import->weak || !import->library ||
			    strcmp(import->library, "libibverbs.so.1"))
				continue;
			if (!legacy_name(import->name) &&
			    !string_list_has(&system.export, import->name))
				string_list_add(&check->unresolved, import->name);
		}
	}
	elf_info_free(&system);
}

/* Keeps the plugins that can be read. */
static void read_plugins(struct check *check, const struct string_list *wanted,
			 struct string_list *readable)
{
	for (size_t i = 0; i < wanted->count; i++) {
		char path[PATH_MAX];
		struct elf_info elf;

		if (!realpath(wanted->item[i], path) || strpbrk(path, ": $") ||
		    elf_info_read(path, &elf)) {
			string_list_add(&check->unread, wanted->item[i]);
			continue;
		}
		string_list_add(readable, path);
		elf_info_free(&elf);
	}
}

static void read_libraries(struct check *check, const struct check_options *options)
{
	struct program *program = &check->program;
	struct string_list plugins = { 0 };

	read_plugins(check, &options->plugins, &plugins);
	closure_read(program->binary, &program->elf, &plugins, &check->closure);
	string_list_free(&plugins);
	needs_read(&check->closure, &check->needs);
	legacy_use_read(&check->closure, &check->use);
	check->libibverbs = closure_find(&check->closure, "libibverbs.so.1");
	check->static_verbs = !check->libibverbs && !starter_is_one(program) &&
			      legacy_is_in_file(program->binary);
	check->mpi = closure_has_mpi(&check->closure) || starter_is_mpi(program);
	read_unresolved(check);
}

static void read_all(struct check *check, const struct check_options *options,
		     struct path_candidates *candidates)
{
	check->fault = program_open(options->program, &check->program);
	read_library(check, candidates);
	if (check->fault)
		return;
	/* Without our library only the comparison of word sizes is missing. */
	check->fault = program_preload_fault(&check->program, check->library_path
								      ? &check->library
								      : &check->program.elf);
	read_libraries(check, options);
	check->starter = starter_is_one(&check->program);
	if (!check->starter || !starter_find_program(&check->program, NULL, check->started))
		check->started[0] = '\0';
	check->devices_error = devices_read(libibverbs_for_tools(), &check->devices);
}

int command_check(const struct command *self, int argc, char **argv)
{
	static struct check check; /* large, and zeroed */
	struct check_options options = { 0 };
	struct path_candidates candidates;
	int status;

	(void)argc;
	status = parse(self, argv, &options);
	if (status)
		return status;
	check.name = options.program;
	check.wanted_device = options.device;
	read_all(&check, &options, &candidates);
	check_decide(&check);
	if (options.json)
		check_print_json(&check);
	else
		check_print_text(&check);
	status = check.exit_status;
	legacy_use_free(&check.use);
	needs_free(&check.needs);
	closure_free(&check.closure);
	program_close(&check.program);
	elf_info_free(&check.library);
	string_list_free(&check.unread);
	string_list_free(&check.unresolved);
	string_list_free(&options.plugins);
	return status;
}
