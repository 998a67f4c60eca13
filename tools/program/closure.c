/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads what ld.so prints for ldd. `ld.so --list` would end at the first missing library. */
#include "closure.h"
#include "libibverbs.h"

#include <tools/aside/aside.h>
#include <tools/files/preload.h>
#include <tools/text/command.h>
#include <tools/text/text.h>

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file server may be slow. A FIFO with the name of a library stops the loader for ever. */
#define TIMEOUT_MILLISECONDS 5000

#define OR_PROVIDER(DRIVER, PROVIDER) "|" PROVIDER
/* The files that libibverbs consists of. */
#define LIBIBVERBS_FILES "lib@(ibverbs|nl-" XRC_PROVIDERS(OR_PROVIDER) ")*"

#define FAILURE "error while loading shared libraries: "

struct question {
	const char *preload;	/* the value of LD_PRELOAD */
	bool system_only;	/* without LD_LIBRARY_PATH */
	bool binds;		/* names the functions that are missing, too */
};

static int set_environment(const void *context)
{
	const struct question *question = context;
	const char *dirs = copy_string(getenv("LD_LIBRARY_PATH"));

	clearenv(); /* LD_AUDIT, LD_DEBUG and their like must not count */
	if (dirs && !question->system_only)
		setenv("LD_LIBRARY_PATH", dirs, 1);
	setenv("LD_PRELOAD", question->preload, 1);
	if (question->binds) {
		setenv("LD_WARN", "1", 1);
		setenv("LD_BIND_NOW", "1", 1);
	}
	return setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
}

/* Adds an object once: each question names the program's own libraries again. */
static void append(struct closure *closure, const char *path, const char *wanted)
{
	struct loaded_object *object;

	EACH(known, closure->object, closure->count) {
		if (!strcmp(known->path, path))
			return;
	}
	object = &APPEND(closure->object, closure->count);
	object->path = copy_string(path);
	object->wanted = copy_string(wanted);
	elf_info_read(path, &object->elf);
}

/*
 * "\tNAME => PATH (0x...)", "\tNAME => not found" or "\tPATH (0x...)". The path is relative if the
 * directory is, and a bare name for an empty element of LD_LIBRARY_PATH. The vDSO has no file.
 */
static void read_line(char *line, struct closure *closure, struct string_list *missing)
{
	char *path = strstr(line, " => ");
	char *address = strstr(path ? path : line, " (0x");

	if (address)
		*address = '\0';
	/* A line without a tab is the rest of a name that has a line break. */
	if (!path && (line[0] != '\t' || !address || access(line + 1, F_OK)))
		return;
	if (path)
		*path = '\0';
	line += line[0] == '\t';
	if (address)
		append(closure, path ? path + strlen(" => ") : line, line);
	else if (!string_list_has(missing, line))
		string_list_add(missing, line);
}

/*
 * The line "PROGRAM: LIBRARY: version `X' not found (required by Y)", or NULL. Also NULL if LIBRARY
 * is an old libibverbs, which `run` replaces by the system's.
 */
static const char *missing_version(const char *line)
{
	const char *library = strstr(line, ": "), *version = strstr(line, ": version `");

	if (!version)
		return NULL;
	library = format_string("%.*s", (int)(version - library) - 2, library + 2);
	return strstr(library, "/libibverbs.so") && libibverbs_is_old(library) ? NULL : line;
}

/*
 * The line "undefined symbol: X\t(LIBRARY)" of a library that libibverbs consists of, or NULL. The
 * program itself may lack functions, because the shim defines them.
 */
static const char *missing_function(char *line)
{
	char *library = strstr(line, "\t(");

	if (!library || strncmp(line, "undefined symbol: ", 18) ||
	    !text_matches(basename(library + 2), LIBIBVERBS_FILES))
		return NULL;
	*library = ' ';
	return line;
}

/* Reads the loader's lines. Returns the first that says why the loader would give up, or NULL. */
static const char *read_lines(char *text, struct closure *closure, struct string_list *missing)
{
	const char *failure = NULL, *why;
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		why = strstr(line, FAILURE);
		why = why ? why + strlen(FAILURE) : missing_version(line);
		why = why ? why : missing_function(line);
		if (why && !failure)
			failure = copy_string(why);
		read_line(line, closure, missing);
	}
	return failure;
}

/* What the loader's exit status means. NULL: the loader answered, or no process was made. */
static const char *failure_of(const struct aside_result *result, int bits)
{
	int status = WEXITSTATUS(result->status);

	if (result->err == -ETIMEDOUT)
		return "the loader does not return from opening a library";
	if (!WIFEXITED(result->status))
		return "the loader crashes";
	if (status == TOOL_EXIT_NOT_EXECUTABLE && bits == 32)
		return "this kernel does not execute 32-bit programs: boot one that has CONFIG_IA32_EMULATION, without ia32_emulation=0";
	return status ? format_string("the loader ends with status %d", status) : NULL;
}

/* Adds what the loader would map for @path, and what it misses. Why it would give up, or NULL. */
static const char *ask(const char *path, struct question question, struct closure *closure,
		       struct string_list *missing)
{
	struct elf_info kind;
	const char *loader = elf_info_read(path, &kind) ? NULL : elf_info_loader(&kind);
	/* Without symbolic links: $ORIGIN is the directory of the program, not of a link to it. */
	char *object = realpath(path, NULL);
	char *const words[] = { (char *)loader, object, NULL };
	const struct aside program = { words, set_environment, &question, true };
	const char *failure;
	struct aside_result result;
	char *text;

	if (kind.is_static)
		return NULL;
	if (kind.is_audited)
		closure->unasked = "the loader would run its audit library (DT_AUDIT)";
	else if (elf_info_is_of_other_libc(&kind))
		closure->unasked = "it belongs to another C library";
	else if (!loader || access(loader, X_OK) || !object)
		closure->unasked = "this machine lacks the dynamic loader of glibc for it";
	if (closure->unasked)
		return NULL;
	text = aside_output(&program, TIMEOUT_MILLISECONDS, &result);
	failure = read_lines(text, closure, missing);
	free(text);
	if (!failure)
		failure = failure_of(&result, kind.bits);
	if (result.err)
		closure->unasked = failure ? failure
					   : format_string("the loader cannot be asked: %s",
							   strerror(-result.err));
	return failure;
}

const char *closure_library(const char *name, const char *object, bool system_only)
{
	struct closure closure = { 0 };

	/* What would be preloaded into @object by that name is what the loader finds. */
	ask(object, (struct question){ .preload = name, .system_only = system_only }, &closure,
	    &closure.missing);
	return closure_find(&closure, name);
}

const char *closure_load_fault(const char *libraries, const char *object)
{
	struct closure closure = { 0 };

	return ask(object, (struct question){ .preload = libraries, .binds = true }, &closure,
		   &closure.missing);
}

/* ---- plugins ---- */

/*
 * Open MPI keeps its transports in <libdir>/openmpi/mca_*.so. Programs link libmpi. mpirun and
 * orted link only libopen-rte (1.3 to 4.x) or libopen-pal.
 */
static void add_plugins_beside(struct string_list *plugins, const char *library)
{
	const char *name = basename(library);
	const char *pattern = format_string("%.*sopenmpi/mca_*.so*", (int)(name - library),
					    library);
	glob_t files = { 0 };
	struct elf_info elf;

	if (!text_matches(name, "lib@(mpi[._]|open-rte.|open-pal.)*"))
		return;
	glob(pattern, 0, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		if (!elf_info_read(files.gl_pathv[i], &elf) &&
		    !string_list_has(plugins, files.gl_pathv[i]))
			string_list_add(plugins, files.gl_pathv[i]);
	}
	globfree(&files);
}

/* Asks for the program with this plugin, or for the plugin alone if LD_PRELOAD cannot hold it. */
static void read_plugin(const char *path, const char *plugin, struct closure *closure)
{
	bool preloadable = preload_can_hold(plugin);
	struct string_list missing = { 0 };

	append(closure, plugin, plugin);
	ask(preloadable ? path : plugin, (struct question){ preloadable ? plugin : "", false },
	    closure, &missing);
	for (size_t i = 0; i < missing.count; i++) {
		const char *name = missing.item[i];

		/* The loader takes a library that is loaded for any request of its name. */
		if (!closure_find(closure, name) && !string_list_has(&closure->missing, name) &&
		    !string_list_has(&closure->plugin_missing, name))
			string_list_add(&closure->plugin_missing, name);
	}
}

void closure_read(const char *path, struct string_list *plugins, struct closure *closure)
{
	memset(closure, 0, sizeof(*closure));
	append(closure, path, path);
	closure->failure = ask(path, (struct question){ "", false }, closure, &closure->missing);
	/* Stop after a hang (closure->unasked): each further question would hang as long. */
	for (size_t asked = 0, seen = 1; !closure->unasked; asked++) {
		for (; seen < closure->count; seen++)
			add_plugins_beside(plugins, closure->object[seen].path);
		if (asked == plugins->count)
			break;
		read_plugin(path, plugins->item[asked], closure);
	}
}

const char *closure_find(const struct closure *closure, const char *name)
{
	EACH(object, closure->object, closure->count) {
		if (!strcmp(object->wanted, name) || !strcmp(basename(object->path), name))
			return object->path;
	}
	return NULL;
}
