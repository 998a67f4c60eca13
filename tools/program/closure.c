/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Runs ld.so as ldd does, and reads its lines. Not `ld.so --list`: that ends at the first library
 * that is missing.
 */
#include "program.h"
#include "tools/common/common.h"

#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file server may be slow. A FIFO with the name of a library stops the loader for ever. */
#define TIMEOUT_MILLISECONDS 5000

#define FAILURE "error while loading shared libraries: "

static const char hangs[] = "the loader does not return from opening a library";

struct question {
	const char *preload;	/* in place of LD_PRELOAD */
	bool system_only;	/* without LD_LIBRARY_PATH */
};

static const struct question plain = { "", false };

/* Never the program's PT_INTERP: it may name any file, and that file would be run. */
static const char *loader_of(const struct elf_info *kind)
{
	static const struct {
		unsigned int machine;
		int bits;
		const char *path;
	} loaders[] = {
#if defined(__x86_64__) || defined(__i386__)
		{ EM_X86_64, 64, "/lib64/ld-linux-x86-64.so.2" },
		{ EM_386, 32, "/lib/ld-linux.so.2" },
#elif defined(__aarch64__)
		{ EM_AARCH64, 64, "/lib/ld-linux-aarch64.so.1" },
#endif
	};

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		if (loaders[i].machine == kind->machine && loaders[i].bits == kind->bits &&
		    !access(loaders[i].path, X_OK))
			return loaders[i].path;
	}
	return NULL;
}

bool loader_is_executed(const struct elf_info *kind)
{
	const char *loader = loader_of(kind);
	char *const words[] = { (char *)loader, (char *)"--help", NULL };
	const struct aside program = { .words = words };
	int result = 0;

	if (loader)
		free(aside_output(&program, TIMEOUT_MILLISECONDS, NULL, &result));
	return result != -TOOL_EXIT_NOT_EXECUTABLE;
}

static int set_environment(const void *context)
{
	static const char *const others[] = {
		"LD_AUDIT", "LD_BIND_NOW", "LD_DEBUG", "LD_DEBUG_OUTPUT", "LD_SHOW_AUXV",
		"LD_VERBOSE", "LD_WARN",
	};
	const struct question *question = context;

	setenv("LD_PRELOAD", question->preload, 1);
	if (question->system_only)
		unsetenv("LD_LIBRARY_PATH");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		unsetenv(others[i]);
	return setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
}

static void append(struct closure *closure, const char *path, const char *wanted)
{
	struct loaded_object *object;

	closure->object = extend(closure->object, closure->count, sizeof(*object));
	object = &closure->object[closure->count++];
	object->path = copy_string(path);
	object->wanted = copy_string(wanted);
	elf_info_read(path, &object->elf);
}

/*
 * "\tNAME => PATH (0x...)", "\tNAME => not found" or "\tPATH (0x...)". The path is relative if the
 * folder is, and a bare name for an empty element of LD_LIBRARY_PATH. The vDSO has no file.
 */
static void read_line(char *line, struct closure *closure)
{
	char *path = strstr(line, " => ");
	char *address = strstr(path ? path : line, " (0x");
	const char *failure = strstr(line, FAILURE);

	if (failure && !closure->failure)
		closure->failure = copy_string(failure + strlen(FAILURE));
	if (address)
		*address = '\0';
	/* A line without a tab is the rest of a name that has a line break. */
	if (!path && (line[0] != '\t' || !address || access(line + 1, F_OK)))
		return;
	if (path)
		*path = '\0';
	line += line[0] == '\t';
	path = path ? path + strlen(" => ") : line;
	if (address)
		append(closure, path, line);
	else if (!string_list_has(&closure->missing, line))
		string_list_add(&closure->missing, line);
}

static void ask(const char *path, const struct elf_info *kind, const struct question *question,
		struct closure *closure)
{
	const char *loader = loader_of(kind);
	char object[PATH_MAX];
	char *const words[] = { (char *)loader, object, NULL };
	const struct aside program = { words, set_environment, question, true };
	char *text, *rest, *line;
	int err;

	memset(closure, 0, sizeof(*closure));
	append(closure, path, path);
	if (kind->is_audited)
		closure->unasked = "the loader would run its audit library (DT_AUDIT)";
	/*
	 * Without symbolic links: $ORIGIN is the folder of the program itself, not of a link to it.
	 */
	if (kind->is_audited || elf_info_is_static(kind) || !loader || !realpath(path, object))
		return;
	text = rest = aside_output(&program, TIMEOUT_MILLISECONDS, NULL, &err);
	while ((line = strsep(&rest, "\n")) != NULL)
		read_line(line, closure);
	free(text);
	if (!err || closure->failure)
		return;
	if (err == -ETIMEDOUT)
		closure->failure = hangs;
	else if (err == -EIO)
		closure->failure = "the loader crashes";
	else if (err == -TOOL_EXIT_NOT_EXECUTABLE || err == -TOOL_EXIT_NOT_FOUND || err == -1)
		closure->failure = format_string("the loader ends with status %d", -err);
	else
		closure->unasked = format_string("the loader cannot be asked: %s", strerror(-err));
}

const char *system_library(const char *name, const char *object, const struct elf_info *kind)
{
	const struct question question = { name, true };
	struct closure closure;

	ask(object, kind, &question, &closure);
	for (size_t i = 1; i < closure.count; i++) {
		if (!strcmp(closure.object[i].wanted, name))
			return closure.object[i].path;
	}
	return NULL;
}

/* ---- plugins ---- */

static bool begins_with_any(const char *path, const char *const *words)
{
	for (; *words; words++) {
		if (!strncmp(basename(path), *words, strlen(*words)))
			return true;
	}
	return false;
}

/* Open MPI keeps its transports in <libdir>/openmpi/mca_*.so. */
static void add_plugins_beside(struct string_list *plugins, const char *library)
{
	const char *pattern = format_string("%.*sopenmpi/mca_*.so*",
					    (int)(basename(library) - library), library);
	glob_t files = { 0 };

	if (glob(pattern, 0, NULL, &files))
		files.gl_pathc = 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		int fd = regular_open(files.gl_pathv[i]);

		if (fd >= 0 && !string_list_has(plugins, files.gl_pathv[i]))
			string_list_add(plugins, files.gl_pathv[i]);
		if (fd >= 0)
			close(fd);
	}
	globfree(&files);
}

/* The loader would take a path with a blank or a colon for several. */
static bool preloadable(const char *path)
{
	return !strpbrk(path, ": $");
}

static const char *joined(const struct string_list *paths)
{
	const char *text = "";

	for (size_t i = 0; i < paths->count; i++) {
		if (preloadable(paths->item[i]))
			text = format_string("%s%s%s", text, text[0] ? ":" : "", paths->item[i]);
	}
	return text;
}

static bool has_object(const struct closure *closure, const char *path)
{
	for (size_t i = 0; i < closure->count; i++) {
		if (!strcmp(closure->object[i].path, path))
			return true;
	}
	return false;
}

/* Adds what @plugins has in addition. @first: of its objects. */
static void merge(struct closure *closure, const struct closure *plugins, size_t first)
{
	for (size_t i = first; i < plugins->count; i++) {
		if (!has_object(closure, plugins->object[i].path))
			append(closure, plugins->object[i].path, plugins->object[i].wanted);
	}
	for (size_t i = 0; i < plugins->missing.count; i++) {
		const char *name = plugins->missing.item[i];

		/* The loader finds a library that it has loaded already by its name alone. */
		if (!closure_find(closure, name) && !string_list_has(&closure->missing, name) &&
		    !string_list_has(&closure->plugin_missing, name))
			string_list_add(&closure->plugin_missing, name);
	}
	if (plugins->unasked)
		closure->unasked = plugins->unasked;
}

/*
 * Asks for all plugins at once. If the loader gives up at one of them, or cannot preload it, asks
 * for it alone.
 */
static void read_plugins(const char *path, const struct elf_info *kind,
			 const struct string_list *plugins, struct closure *closure)
{
	const struct question question = { joined(plugins), false };
	struct closure with_all, alone;

	ask(path, kind, &question, &with_all);
	merge(closure, &with_all, 1);
	/* Each question would take as long. */
	if (with_all.failure == hangs)
		closure->unasked = "the loader does not return from opening a plugin";
	for (size_t i = 0; i < plugins->count && !closure->unasked; i++) {
		if (!with_all.failure && preloadable(plugins->item[i]))
			continue;
		ask(plugins->item[i], kind, &plain, &alone);
		merge(closure, &alone, 0);
	}
}

void closure_read(const char *path, const struct elf_info *kind, const struct string_list *plugins,
		  struct closure *closure)
{
	/*
	 * Programs link libmpi. mpirun and orted link only libopen-rte (1.3 to 4.x) or libopen-pal.
	 */
	static const char *const open_mpi[] = { "libmpi.", "libmpi_", "libopen-rte.",
						"libopen-pal.", NULL };
	struct string_list all = { 0 };
	size_t asked = 0;

	for (size_t i = 0; plugins && i < plugins->count; i++)
		string_list_add(&all, plugins->item[i]);
	ask(path, kind, &plain, closure);
	for (;;) {
		for (size_t i = 1; i < closure->count; i++) {
			if (begins_with_any(closure->object[i].path, open_mpi))
				add_plugins_beside(&all, closure->object[i].path);
		}
		if (all.count == asked)
			return;
		asked = all.count;
		read_plugins(path, kind, &all, closure);
	}
}

const struct loaded_object *closure_find(const struct closure *closure, const char *name)
{
	for (size_t i = 1; i < closure->count; i++) {
		const struct loaded_object *object = &closure->object[i];

		if (!strcmp(object->wanted, name) || !strcmp(basename(object->path), name) ||
		    (object->elf.soname && !strcmp(object->elf.soname, name)))
			return object;
	}
	return NULL;
}

bool closure_has_mpi(const struct closure *closure)
{
	static const char *const libraries[] = { "libmpi", "libopen-rte.", "libopen-pal.", NULL };
	/*
	 * Variables that MVAPICH, MVAPICH2 and Open MPI read. These MPIs are often linked
	 * statically into a program.
	 */
	static const char *const variables[] = { "VIADEV_", "MV2_USE_", "OMPI_MCA_", NULL };

	for (size_t i = 1; i < closure->count; i++) {
		if (begins_with_any(closure->object[i].path, libraries))
			return true;
	}
	for (const char *const *name = variables; closure->count && *name; name++) {
		if (regular_has(closure->object[0].path, *name, strlen(*name)))
			return true;
	}
	return false;
}
