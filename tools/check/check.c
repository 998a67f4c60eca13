/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat check`: whether and how a program runs here. It executes nothing of the program. */
#include "check.h"

#include <abi/functions.h>
#include <tools/files/paths.h>
#include <tools/files/regular.h>
#include <tools/program/libibverbs.h>
#include <tools/text/command.h>
#include <tools/text/text.h>

#include <stdlib.h>
#include <string.h>

static struct check check;
static struct string_list plugins;
static bool as_json;

/* The plugins that can be read. */
static void read_plugins(struct string_list *readable)
{
	for (size_t i = 0; i < plugins.count; i++) {
		const char *path = realpath(plugins.item[i], NULL);
		struct elf_info elf;

		if (path && !elf_info_read(path, &elf) && elf.is_library)
			string_list_add(readable, path);
		else if (!check.broken)
			check.broken = format_string("the plugin %s cannot be read, or is not a library",
						     plugins.item[i]);
	}
}

/* A file that imports a function contains its name, and so does one that passes it to dlsym(). */
static void read_name(const struct loaded_object *object, const char *name)
{
	if (!elf_info_names(&object->elf, object->path, name))
		return;
	string_list_add(&check.needs, format_string("%s, by %s", name, object->path));
	check.receive_qps |= text_matches(name, "ibv_@(create|reg)_xrc_rcv_qp");
}

/* Finds the names of the legacy functions. */
static void read_names(const struct loaded_object *object)
{
#define READ(name) read_name(object, #name);
	ABI_LEGACY_FUNCTIONS(READ)
#undef READ
	/* Only that interface had it as a symbol; today it is inline. */
	check.transitional |= elf_info_names(&object->elf, object->path, "ibv_create_xsrq");
}

/*
 * A program that calls or contains MPI_Init() has this string. A stripped program with a static MPI
 * still has the names of the variables that MVAPICH, MVAPICH2 and Open MPI read.
 */
static bool has_mpi(const char *path)
{
	return regular_has(path, "MPI_Init") || regular_has(path, "VIADEV_") ||
	       regular_has(path, "MV2_USE_") || regular_has(path, "OMPI_MCA_");
}

/* A library that `run` preloads may keep the program from starting; one that it opens does not. */
static void read_libibverbs(struct closure *closure)
{
	const char *used = closure->old_libibverbs ? closure->system_libibverbs
						   : closure->libibverbs;
	const char *preloaded = closure->old_libibverbs ? used : "", *fault;

	if (!used || closure->unasked || closure->failure)
		return;
	for (size_t i = 0; i < closure->companion.count; i++)
		preloaded = format_string("%s:%s", preloaded, closure->companion.item[i]);
	fault = closure_load_fault(preloaded, check.program.binary);
	check.load_advice = fault ? LIBIBVERBS_LOAD_ADVICE : NULL;
	if (fault)
		closure->failure = format_string("libibverbs cannot be loaded: %s", fault);
	else
		check.driver_fault = providers_load_fault(used, check.program.binary);
}

static void read_libraries(void)
{
	struct program *program = &check.program;
	struct string_list readable = { 0 };

	read_plugins(&readable);
	closure_read(program->binary, &readable, &check.closure);
	needs_read(&check.closure, &(struct preload_wish){ 0 });
	read_libibverbs(&check.closure);
	check.mpi = starter_is_mpi(program);
	EACH(object, check.closure.object, check.closure.count) {
		const char *path = object->path;

		/* Skip libibverbs and libxrc-compat: they define these names. */
		if (!text_matches(basename(path), "lib@(ibverbs|xrc-compat).so*"))
			read_names(object);
		check.platform_mpi = check.platform_mpi || is_platform_mpi(path);
		check.mpi = check.mpi || check.platform_mpi || has_mpi(path);
	}
	check.starter = starter_is_one(program);
	check.started = check.starter ? starter_find_program(program, NULL) : NULL;
}

static void read_all(void)
{
	struct elf_info library = { 0 };
	const char *path, *libibverbs = needs_own_libibverbs();

	check.run_status = program_open(check.name, &check.program);
	check.broken = paths_shim(check.program.elf.bits, &path, &library);
	if (check.run_status)
		return;
	/* If our library is missing, the program is compared with itself, and has its class. */
	check.run_status =
		program_refuse(&check.program, library.bits ? &library : &check.program.elf);
	read_libraries();
	check.devices_error = devices_read(libibverbs, &check.devices);
	check.missing_device =
		providers_missing_device(libibverbs, &check.devices, check.wanted_device);
}

static int run_check(char **operands)
{
	struct decision decision;

	check.name = operands[0];
	read_all();
	check_decide(&check, &decision);
	check_print(&check, &decision, as_json);
	return decision.exit_status;
}

static const struct option_row options[] = {
	{ "--device", "NAME", "ask for this device; without it any with XRC will do",
	  .text = &check.wanted_device },
	{ "--plugin", "FILE",
	  "look at this library too, which the program opens by itself; may be given several times",
	  .list = &plugins },
	{ "--json", NULL, "print the report as JSON", .flag = &as_json },
	{ 0 },
};

const struct command command_check = {
	"check", options, "PROGRAM", "say whether a program will run here, and by which command",
	"xrc-compat check ./old-solver", run_check, .most_operands = 1, .needs_program = true,
};
