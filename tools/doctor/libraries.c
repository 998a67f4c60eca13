/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Examines the libraries: ours, and the libibverbs that programs get. */
#include "doctor.h"

#include <tools/files/paths.h>
#include <tools/files/preload.h>
#include <tools/program/libibverbs.h>
#include <tools/program/needs.h>
#include <tools/program/providers.h>
#include <tools/text/memory.h>

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

static void examine_library(void)
{
	struct elf_info elf;
	const char *path, *fault = paths_shim(OWN_BITS, &path, &elf);

	if (fault)
		print_finding("library", FINDING_PROBLEM,
			      "install xrc-compat completely, in a path that LD_PRELOAD can have, or point XRC_COMPAT_LIBRARY to the library",
			      "%s", fault);
	else
		print_finding("library", FINDING_OK, NULL, "%s, %d-bit %s", path, elf.bits,
			      elf_info_machine_name(&elf));
}

/* Adds the row @what with the release of the library. */
static void print_release(const char *what, const char *path)
{
	char *real = realpath(path, NULL);

	path = real ? real : path;
	print_finding(what, FINDING_OK, NULL, "%s, %s", path, libibverbs_release_name(path));
	free(real);
}

static void examine_libibverbs(void)
{
	const char *path = closure_library(LIBIBVERBS, paths_self(), true);
	const char *fault = path ? closure_load_fault(path, paths_self()) : NULL;
	struct driver_fault driver_fault = { 0 };
	struct elf_info elf;

	if (path && !fault)
		driver_fault = providers_load_fault(path, paths_self());
	if (!path)
		print_finding("libibverbs", FINDING_PROBLEM, LIBIBVERBS_INSTALL_ADVICE,
			      "libibverbs.so.1 is not installed");
	else if (elf_info_read(path, &elf))
		print_finding("libibverbs", FINDING_PROBLEM, LIBIBVERBS_INSTALL_ADVICE,
			      "%s is what the loader would take, but no library", path);
	else if (libibverbs_is_old(path))
		print_finding("libibverbs", FINDING_PROBLEM, LIBIBVERBS_INSTALL_ADVICE,
			      "%s is older than rdma-core: it finds no device on this kernel",
			      path);
	else if (fault)
		print_finding("libibverbs", FINDING_PROBLEM, LIBIBVERBS_LOAD_ADVICE,
			      "it cannot be loaded: %s", fault);
	else if (driver_fault.text)
		print_finding("libibverbs", FINDING_PROBLEM, driver_fault.advice,
			      "%s, %s, cannot load its drivers: %s", path,
			      libibverbs_release_name(path), driver_fault.text);
	else
		print_release("libibverbs", path);
}

/* Does not look for libibumad.so.3: programs start without it. */
static void examine_companions(void)
{
	const char *directory = "";

	for (const struct companion *row = companions; row->name; row++) {
		const char *path = paths_library(OWN_BITS, format_string("companions/%s", row->name));

		if (!path) {
			print_finding("companions", FINDING_PROBLEM, "install xrc-compat again",
				      "%s was not found", row->name);
			return;
		}
		directory = dirname(copy_string(path));
	}
	print_finding("companions", FINDING_OK, NULL, "libibumad.so.1 and others, in %s",
		      directory);
}

/* LD_LIBRARY_PATH of this shell may come from a solver's module or wrapper script. */
static void examine_library_path(void)
{
	const char *value = getenv("LD_LIBRARY_PATH"), *dir, *path;
	char *rest = copy_string(value && value[0] ? value : NULL);
	struct elf_info elf;

	while ((dir = strsep(&rest, ":;"))) {
		path = format_string("%s%slibibverbs.so.1", dir, dir[0] ? "/" : "");
		/* The loader passes over the other word size. */
		if (elf_info_read(path, &elf) || elf.bits != OWN_BITS)
			continue;
		if (libibverbs_is_old(path))
			print_finding("LD_LIBRARY_PATH", FINDING_PROBLEM,
				      "programs get it instead of the system's; xrc-compat run puts the system's first; add "
				      "--system-libibverbs if a script starts the program",
				      "%s is older than rdma-core: it finds no device on this kernel",
				      path);
		else
			print_release("LD_LIBRARY_PATH", path);
		return;
	}
	print_finding("LD_LIBRARY_PATH", FINDING_OK, NULL,
		      value ? "leads to no other libibverbs" : "not set here");
}

void examine_libraries(void)
{
	examine_library();
	examine_companions();
	examine_libibverbs();
	examine_library_path();
}
