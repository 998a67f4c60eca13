/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Recognizes starters by name, and reads the last words of shell scripts. */
#include "starter.h"
#include "regular.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES 65536

/* A version or flavour may follow the name: python3.11, mpiexec.hydra. */
static bool is_among(const char *name, const char *const *names)
{
	for (; *names; names++) {
		size_t length = strlen(*names);

		if (!strncmp(name, *names, length) &&
		    (!name[length] || strchr(".-0123456789", name[length])))
			return true;
	}
	return false;
}

bool starter_is_mpi(const struct program *program)
{
	static const char *const names[] = {
		"mpirun", "mpiexec", "mpirun_rsh", "mpispawn", "orterun", "orted", "prterun",
		"prun", "srun", "slurmstepd", "aprun", "jsrun", "hydra_pmi_proxy", "pmi_proxy",
		NULL,
	};

	if (is_among(basename(program->path), names))
		return true;
	/* A job script has one of these in it. */
	return strcmp(program->path, program->binary) != 0 &&
	       (regular_has(program->path, "mpirun", 6) ||
		regular_has(program->path, "mpiexec", 7) || regular_has(program->path, "srun ", 5));
}

static bool is_known(const struct program *program)
{
	static const char *const names[] = {
		"sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh", "busybox", "python", "perl",
		"ruby", "tclsh", "lua", "java", "env", "nohup", "nice", "taskset", "numactl",
		"time", "timeout", "stdbuf", "setsid", "ssh", "make", "gdb", "strace", "ltrace",
		"valgrind", NULL,
	};

	return is_among(basename(program->path), names) ||
	       is_among(basename(program->binary), names) || starter_is_mpi(program);
}

static bool calls_exec(const struct elf_info *elf)
{
	static const char *const calls[] = {
		"execve", "execv", "execvp", "execvpe", "execl", "execle", "execlp", "posix_spawn",
		"posix_spawnp",
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (elf_info_find_import(elf, calls[i]))
			return true;
	}
	return false;
}

bool starter_is_one(const struct program *program)
{
	return strcmp(program->path, program->binary) != 0 || is_known(program) ||
	       calls_exec(&program->elf);
}

/* ---- words ---- */

static bool take_program(const char *word, char *path)
{
	struct program program;
	bool taken;

	if (!strchr(word, '/'))
		return false;
	/* A script that starts a script is a starter, too. */
	taken = !program_open(word, &program) && !strcmp(program.path, program.binary) &&
		!is_known(&program);
	if (taken)
		snprintf(path, PATH_MAX, "%s", program.path);
	program_close(&program);
	return taken;
}

/* ---- shell scripts ---- */

/* Expands the usual forms of the script's own folder, and removes quotes. */
static void simplify(char *line, const char *folder, char *text, size_t size)
{
	static const char *const own[] = { "$(dirname \"$0\")", "$(dirname $0)", "`dirname $0`",
					   "`dirname \"$0\"`", "${0%/*}" };
	size_t used = 0;

	while (*line && used + PATH_MAX < size) {
		size_t length = 0;

		for (size_t i = 0; !length && i < sizeof(own) / sizeof(own[0]); i++)
			length = strncmp(line, own[i], strlen(own[i])) ? 0 : strlen(own[i]);
		if (length)
			used += (size_t)snprintf(text + used, size - used, "%s", folder);
		else if (!strchr("\"'", *line))
			text[used++] = *line;
		line += length ? length : 1;
	}
	text[used] = '\0';
}

/* Scripts also call rm, hostname and their like by path. */
static bool is_of_the_system(const char *word)
{
	static const char *const folders[] = { "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!strncmp(word, folders[i], strlen(folders[i])))
			return true;
	}
	return false;
}

/* The first word of the line that is a program. */
static bool in_line(char *line, const char *folder, char *path)
{
	static char text[MOST_BYTES];
	char *rest = text;
	char *word;

	simplify(line, folder, text, sizeof(text));
	while ((word = strsep(&rest, " \t;&|")) != NULL) {
		if (word[0] == '#')
			return false;
		if (!is_of_the_system(word) && take_program(word, path))
			return true;
	}
	return false;
}

/* The last line with a program. A line with exec ends the script. */
static bool in_script(char *script, const char *folder, char *path)
{
	bool found = false;
	char *line;

	while ((line = strsep(&script, "\n")) != NULL) {
		line += strspn(line, " \t");
		found |= line[0] != '#' && in_line(line, folder, path);
		if (found && !strncmp(line, "exec ", 5))
			return true;
	}
	return found;
}

static bool read_script(const char *name, char *text)
{
	int fd = regular_open(name);
	ssize_t size;

	if (fd < 0)
		return false;
	size = read(fd, text, MOST_BYTES);
	close(fd);
	/* A longer script does more than start a program. */
	if (size < 0 || size == MOST_BYTES)
		return false;
	text[size] = '\0';
	return true;
}

/* @given: as an argument of a shell, which ignores the script's first line. */
static bool take_script(const char *name, bool given, char *path)
{
	static char text[MOST_BYTES];
	char folder[PATH_MAX];
	int length = (int)(basename(name) - name);

	if ((!given && !strchr(name, '/')) || !read_script(name, text) ||
	    (!given && strncmp(text, "#!", 2) != 0))
		return false;
	snprintf(folder, sizeof(folder), "%.*s", length > 1 ? length - 1 : length, name);
	return in_script(text, folder[0] ? folder : ".", path);
}

static bool is_shell(const char *path)
{
	static const char *const names[] = { "sh", "bash", "dash", "ksh", "zsh", NULL };

	return is_among(basename(path), names);
}

bool starter_find_program(const struct program *starter, char *const *words, char *path)
{
	for (size_t i = 0; words && words[i]; i++) {
		if (take_program(words[i], path) ||
		    take_script(words[i], is_shell(starter->path) && words[i][0] != '-', path))
			return true;
	}
	return strcmp(starter->path, starter->binary) != 0 &&
	       take_script(starter->path, true, path);
}
