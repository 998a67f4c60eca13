/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Recognizes starters by their names or functions, and finds programs in shell scripts. */
#include "program.h"

#include <tools/files/regular.h>
#include <tools/job/launchers.h>
#include <tools/text/memory.h>
#include <tools/text/text.h>

#include <string.h>

#define MOST_BYTES 65535
#define SHELLS "sh|bash|dash|ksh|zsh"

/* @names: with '|' between them. A version or flavour may follow: python3.11, busybox.static. */
static bool is_named(const char *path, const char *names)
{
	return text_matches(basename(path), format_string("@(%s)@(|.*|+([.0-9]))", names));
}

bool starter_is_mpi(const struct program *program)
{
	const struct launcher *launcher = find_launcher(program->path);

	if (launcher)
		return launcher->is_mpi;
	/* A job script has one of these in it. */
	return program_is_script(program) &&
	       (regular_has(program->path, "mpirun") || regular_has(program->path, "mpiexec") ||
		regular_has(program->path, "srun "));
}

static bool is_known(const struct program *program)
{
	static const char names[] =
		SHELLS "|csh|tcsh|busybox|python|perl|ruby|tclsh|lua|java|env|nohup|nice|taskset|numactl|"
		"time|timeout|stdbuf|setsid|make|gdb|strace|ltrace|valgrind";

	return is_named(program->path, names) || is_named(program->binary, names) ||
	       find_launcher(program->path);
}

static bool calls_exec(const struct program *program)
{
	static const char *const calls[] = {
		"execve", "execv", "execvp", "execvpe", "execl", "execle", "execlp", "posix_spawn",
		"posix_spawnp",
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (elf_info_names(&program->elf, program->binary, calls[i]))
			return true;
	}
	return false;
}

bool starter_is_one(const struct program *program)
{
	return program_is_script(program) || is_known(program) || calls_exec(program);
}

/* ---- words ---- */

/* The path of @word if it is an ELF program and no known starter. */
static const char *take_program(const char *word)
{
	struct program program;

	/* A script is a starter, even one that only starts a program. */
	if (!strchr(word, '/') || program_open(word, &program) || program_is_script(&program) ||
	    program.elf.is_library || is_known(&program))
		return NULL;
	return program.path;
}

/* ---- shell scripts ---- */

/* A directory that only the shell knows is most often the script's own: "$(dirname "$0")/prog". */
static const char *beside_script(const char *word, const char *dir)
{
	const char *last = strrchr(word, '/');

	return last && strpbrk(word, "$`)}") ? format_string("%s%s", dir, last + 1) : word;
}

/* The first word of the line that is a program. */
static const char *find_in_line(char *line, const char *dir)
{
	const char *path = NULL, *word;

	while (!path && (word = strsep(&line, " \t;&|\"'")) != NULL && word[0] != '#') {
		/* Not rm, hostname and their like, which scripts also call by path. */
		if (!text_matches(word, "?(/usr)/?(s)bin/*"))
			path = take_program(beside_script(word, dir));
	}
	return path;
}

/* The last line with a program. A line with exec ends the script. */
static const char *find_in_script(char *script, const char *dir)
{
	const char *found = NULL, *path;
	char *line;

	while ((line = strsep(&script, "\n")) != NULL) {
		bool ends;

		line += strspn(line, " \t");
		ends = !strncmp(line, "exec ", 5);
		path = find_in_line(line, dir);
		found = path ? path : found;
		if (found && ends)
			break;
	}
	return found;
}

/* @given: as an argument of a shell, which ignores the script's first line. */
static const char *take_script(const char *name, bool given)
{
	static char text[MOST_BYTES + 1];
	int length = (int)(basename(name) - name);
	ssize_t size;

	if (!given && !strchr(name, '/'))
		return NULL;
	size = regular_read(name, text, sizeof(text));
	/* A longer script does more than start a program. */
	if (size < 0 || size == MOST_BYTES || (!given && strncmp(text, "#!", 2) != 0))
		return NULL;
	return find_in_script(text, length ? format_string("%.*s", length, name) : "./");
}

const char *starter_find_program(const struct program *starter, char *const *words)
{
	const char *path = NULL;

	for (size_t i = 0; !path && words && words[i]; i++) {
		path = take_program(words[i]);
		if (!path)
			path = take_script(words[i],
					   is_named(starter->path, SHELLS) && words[i][0] != '-');
	}
	return path || !program_is_script(starter) ? path : take_script(starter->path, true);
}
