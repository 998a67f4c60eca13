/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds a program as execvp() does, and says why no library can be preloaded into it. */
#include "program.h"

#include <tools/files/regular.h>
#include <tools/text/command.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>
#include <tools/text/text.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The kernel's exec_binprm() gives ELOOP at the sixth '#!' line. */
#define MAX_INTERPRETERS 5
/* The kernel reads so many bytes of each (BINPRM_BUF_SIZE). */
#define MAX_INTERPRETER_LINE 256

/* 0 when the kernel may execute @path, else -errno. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

static bool is_missing(int err)
{
	return err == -ENOENT || err == -ENOTDIR;
}

/* 0 or -errno. *path: the executable file, or else the first file that is there. */
static int search_path(const char *name, const char **path)
{
	const char *setting = getenv("PATH");
	char *rest = copy_string(setting ? setting : "/bin:/usr/bin"); /* as for execvp() */
	const char *directory, *candidate;
	int err = -ENOENT, found;

	while (err && (directory = strsep(&rest, ":")) != NULL) {
		candidate = format_string("%s/%s", directory[0] ? directory : ".", name);
		found = executable(candidate);
		/* Remember a file that may not be executed, and go on. */
		if (!found || (is_missing(err) && !is_missing(found))) {
			err = found;
			*path = candidate;
		}
	}
	return err;
}

static int find_program(const char *name, const char **path)
{
	if (name[0] && !strchr(name, '/'))
		return search_path(name, path);
	*path = copy_string(name);
	return executable(name);
}

/* The interpreter in the '#!' line of @path, as the kernel reads it. NULL if there is none. */
static const char *interpreter_of(const char *path)
{
	char line[MAX_INTERPRETER_LINE + 1], *start;
	size_t length;

	if (regular_read(path, line, sizeof(line)) < 0 || strncmp(line, "#!", 2) != 0)
		return NULL;
	start = line + 2 + strspn(line + 2, " \t");
	length = strcspn(start, " \t\n");
	if (!length || start + length == line + MAX_INTERPRETER_LINE)
		return NULL;
	return format_string("%.*s", (int)length, start);
}

bool program_is_script(const struct program *program)
{
	return strcmp(program->path, program->binary) != 0;
}

/* ---- why a program is refused ---- */

static int refused(struct program *program, int exit_status, const char *file, const char *text,
		   const char *advice)
{
	program->fault = format_string("%s: %s", file, text);
	program->advice = advice;
	return exit_status;
}

static const char *why_not_executable(const char *path)
{
	struct statvfs system;
	struct stat st;

	if (stat(path, &st))
		return strerror(errno);
	if (S_ISDIR(st.st_mode))
		return "is a directory, not a program";
	if (!S_ISREG(st.st_mode))
		return "is not a regular file";
	if (!access(path, X_OK))
		return "cannot be read, so its libraries are not known; the line of xrc-compat env preloads the library all the same, unless it is a script, static or setuid";
	if (!statvfs(path, &system) && (system.f_flag & ST_NOEXEC))
		return "is on a file system that is mounted noexec; run a copy on another one";
	return "is there, but may not be executed; chmod +x, if it is a program";
}

static int not_found(const char *name, struct program *program)
{
	const char *text = "no such program";

	if (!strchr(name, '/'))
		text = access(name, F_OK) ? "no such program on PATH"
					  : format_string("no such program on PATH; the file here is ./%s",
							  name);
	return refused(program, TOOL_EXIT_NOT_FOUND, name[0] ? name : "''", text, NULL);
}

/* A carriage return after the interpreter's name is invisible in a message. */
static int no_interpreter(struct program *program)
{
	const char *binary = program->binary;
	const char *text = binary[strlen(binary) - 1] == '\r'
		? "its '#!' line ends with a carriage return, as in text files of Windows; sed -i 's/\\r$//' removes them"
		: format_string("its interpreter %s was not found", binary);

	return refused(program, TOOL_EXIT_NOT_FOUND, program->path, text, NULL);
}

static int not_executable(struct program *program, const char *path)
{
	return refused(program, TOOL_EXIT_NOT_EXECUTABLE, path, why_not_executable(path), NULL);
}

static int open_binary(struct program *program)
{
	const char *binary = program->binary;
	int err = elf_info_read(binary, &program->elf);

	if (err == -ELIBBAD)
		return refused(program, TOOL_EXIT_NOT_EXECUTABLE, binary,
			       "is an ELF file, but no whole program: it is cut off, damaged, an object file or a core dump",
			       "copy it again from where it came from; of a core dump: xrc-compat ps --core FILE");
	if (err == -ENOEXEC && interpreter_of(binary))
		return refused(program, TOOL_EXIT_NOT_EXECUTABLE, program->path,
			       "the kernel follows no more than 5 '#!' lines", NULL);
	if (err == -ENOEXEC)
		return refused(program, TOOL_EXIT_NOT_EXECUTABLE, binary,
			       "is neither an ELF program nor a script with an interpreter in its '#!' line",
			       "is it a shell script without a '#!' line? then: xrc-compat run sh PROGRAM");
	if (is_missing(err))
		return no_interpreter(program);
	program->is_unreadable = err && !executable(binary);
	return err ? not_executable(program, binary) : 0;
}

int program_open(const char *name, struct program *program)
{
	const char *next;
	struct elf_info library;
	int err;

	memset(program, 0, sizeof(*program));
	err = find_program(name, &program->path);
	if (is_missing(err))
		return not_found(name, program);
	/* Libraries lack execute permission. That the file is a library tells the user more. */
	if (err && (elf_info_read(program->path, &library) || !library.is_library))
		return not_executable(program, program->path);
	program->binary = program->path;
	for (int i = 0; i < MAX_INTERPRETERS && (next = interpreter_of(program->binary)); i++)
		program->binary = next;
	return open_binary(program);
}

/*
 * Any of these bits makes the loader ignore LD_PRELOAD, silently, unless the caller is that user
 * or group already. It is refused for all callers, so that the result does not depend on them.
 */
static int refuse_privileged(struct program *program)
{
	const char *path = program->binary;
	char capability[64];
	struct stat st;

	if (!stat(path, &st) && (st.st_mode & (S_ISUID | S_ISGID)))
		return refused(program, TOOL_EXIT_REFUSED, path,
			       "is setuid or setgid; the dynamic loader ignores LD_PRELOAD for it",
			       text_matches(basename(path), "@(su|sudo|doas|pkexec)")
				       ? "put the command behind it, as in: su USER -c 'xrc-compat run PROGRAM', or: sudo "
					 "xrc-compat run PROGRAM"
				       : "run a copy without the bits: cp PROGRAM copy && chmod ug-s copy");
	if (getxattr(path, "security.capability", capability, sizeof(capability)) > 0)
		return refused(program, TOOL_EXIT_REFUSED, path,
			       "has file capabilities; the dynamic loader ignores LD_PRELOAD for it",
			       "run a copy: cp does not keep file capabilities");
	return 0;
}

/* Refuses a program that cannot start here, or is for another C library. */
static int refuse_start(struct program *program)
{
	const struct elf_info *elf = &program->elf;
	const char *binary = program->binary;
	struct utsname machine;

	if (elf_info_is_of_other_libc(elf))
		return refused(program, TOOL_EXIT_REFUSED, binary,
			       format_string("belongs to another C library, whose loader is %s; libxrc-compat needs glibc",
					     elf->interpreter),
			       "run a build of the program for glibc");
	if (!elf_info_loader(elf) && !uname(&machine))
		return refused(program, TOOL_EXIT_NOT_EXECUTABLE, binary,
			       format_string("is a %d-bit program for %s, and this machine is %s",
					     elf->bits, elf_info_machine_name(elf),
					     machine.machine), NULL);
	/* For this file, too, the kernel answers ENOENT. */
	if (elf->interpreter && access(elf->interpreter, F_OK))
		return refused(program, TOOL_EXIT_NOT_FOUND, binary,
			       format_string("its dynamic loader %s was not found", elf->interpreter),
			       "install the C library of that class (on Debian libc6:i386 for 32-bit programs)");
	return 0;
}

int program_refuse(struct program *program, const struct elf_info *library)
{
	const struct elf_info *elf = &program->elf;
	const char *binary = program->binary;
	int status = refuse_start(program);

	if (status)
		return status;
	if (elf->is_library)
		return refused(program, TOOL_EXIT_NOT_EXECUTABLE, binary,
			       "is a shared library or plugin, not a program",
			       "ask about the program that loads it: xrc-compat check --plugin FILE PROGRAM");
	if (elf->is_static)
		return refused(program, TOOL_EXIT_REFUSED, binary,
			       "is statically linked or packed; no library can be preloaded into it",
			       "link it dynamically, as a libibverbs.a of that age finds no device on today's kernels; unpack a copy of a "
			       "packed program: upx -d");
	if (elf->bits != library->bits || elf->machine != library->machine)
		return refused(program, TOOL_EXIT_REFUSED, binary,
			       format_string("is a %d-bit %s program, but this libxrc-compat is %d-bit %s",
					     elf->bits, elf_info_machine_name(elf), library->bits,
					     elf_info_machine_name(library)),
			       "install libxrc-compat for that machine beside this one (docs/32-bit.md), or name it in "
			       "XRC_COMPAT_LIBRARY");
	return refuse_privileged(program);
}

void program_say_fault(const struct program *program)
{
	say("%s", program->fault);
	if (program->advice)
		advise("%s", program->advice);
}
