/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Finds a program as execvp() does, and says why a library cannot be preloaded into it. The loader
 * says little or nothing.
 */
#include "program.h"
#include "tools/common/common.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The kernel follows so many '#!' lines; one more is ELOOP (BINPRM_MAX_RECURSION). */
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

static enum program_fault fault_of(int err)
{
	if (!err)
		return PROGRAM_FINE;
	return err == -ENOENT || err == -ENOTDIR ? PROGRAM_NOT_FOUND : PROGRAM_NOT_EXECUTABLE;
}

static enum program_fault search_path(const char *name, char *path)
{
	const char *setting = getenv("PATH");
	char *rest = copy_string(setting ? setting : "/bin:/usr/bin"); /* as for execvp() */
	enum program_fault fault = PROGRAM_NOT_FOUND, found;
	const char *directory;
	char candidate[PATH_MAX];

	while (fault && (directory = strsep(&rest, ":")) != NULL) {
		if (snprintf(candidate, PATH_MAX, "%s/%s", directory[0] ? directory : ".", name) >=
		    PATH_MAX)
			continue;
		found = fault_of(executable(candidate));
		/* As execvp() does: remember a file that may not be executed, and go on. */
		if (!found || (found == PROGRAM_NOT_EXECUTABLE && fault == PROGRAM_NOT_FOUND)) {
			fault = found;
			memcpy(path, candidate, PATH_MAX);
		}
	}
	return fault;
}

static enum program_fault find_program(const char *name, char *path)
{
	if (!strchr(name, '/'))
		return name[0] ? search_path(name, path) : PROGRAM_NOT_FOUND;
	if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
		return PROGRAM_NOT_FOUND;
	return fault_of(executable(path));
}

/*
 * Replaces @path by the interpreter in its '#!' line, as the kernel reads it. False when it has
 * none.
 */
static bool follow_script(char *path)
{
	char line[MAX_INTERPRETER_LINE + 1] = "";
	size_t length;
	int fd = regular_open(path);
	ssize_t size;
	char *start;

	if (fd < 0)
		return false;
	size = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (size < 3 || line[0] != '#' || line[1] != '!')
		return false;
	start = line + 2 + strspn(line + 2, " \t");
	length = strcspn(start, " \t\n");
	if (!length || start + length == line + MAX_INTERPRETER_LINE)
		return false;
	snprintf(path, PATH_MAX, "%.*s", (int)length, start);
	return true;
}

enum program_fault program_open(const char *name, struct program *program)
{
	struct elf_info library;
	enum program_fault fault;
	int depth = 0;
	int err;

	memset(program, 0, sizeof(*program));
	fault = find_program(name, program->path);
	/*
	 * Distributions install libraries without execute permission. That the file is a library
	 * tells the user more.
	 */
	if (fault && (fault != PROGRAM_NOT_EXECUTABLE || elf_info_read(program->path, &library) ||
		      !elf_info_is_library(&library)))
		return fault;
	memcpy(program->binary, program->path, PATH_MAX);
	while (depth < MAX_INTERPRETERS && follow_script(program->binary))
		depth++;
	err = elf_info_read(program->binary, &program->elf);
	if (!err)
		return program->elf.has_interpreter && !program->elf.interpreter ? PROGRAM_BAD_ELF
										 : PROGRAM_FINE;
	if (err == -ELIBBAD)
		return PROGRAM_BAD_ELF;
	return err == -ENOEXEC ? PROGRAM_BAD_FORMAT : fault_of(err);
}

bool program_is_script(const struct program *program)
{
	return strcmp(program->path, program->binary) != 0;
}

/*
 * Any of these bits makes the loader ignore LD_PRELOAD, silently, for everybody but the owner. So
 * the bit alone decides: that it works for the owner would only confuse.
 */
static enum program_fault privileged(const char *path)
{
	char capability[64];
	struct stat st;

	if (!stat(path, &st) && (st.st_mode & (S_ISUID | S_ISGID)))
		return PROGRAM_SETUID;
	if (getxattr(path, "security.capability", capability, sizeof(capability)) > 0)
		return PROGRAM_CAPABILITIES;
	return PROGRAM_FINE;
}

#if defined(__aarch64__)
#define OWN_MACHINE "aarch64"
#else
#define OWN_MACHINE "x86-64"
#endif

static bool runs_here(const struct elf_info *elf)
{
#if defined(__aarch64__)
	return elf->machine == EM_AARCH64 && !elf->big_endian;
#else
	return elf->machine == EM_X86_64 || elf->machine == EM_386;
#endif
}

enum program_fault program_preload_fault(const struct program *program,
					 const struct elf_info *library)
{
	const struct elf_info *elf = &program->elf;

	if (!runs_here(elf))
		return PROGRAM_FOREIGN;
	if (elf->interpreter && access(elf->interpreter, F_OK))
		return PROGRAM_NO_LOADER;
	if (elf->bits == 32 && !loader_is_executed(elf))
		return PROGRAM_OTHER_KERNEL;
	if (elf->bits != library->bits || elf->machine != library->machine)
		return PROGRAM_OTHER_MACHINE;
	if (elf_info_is_library(elf))
		return PROGRAM_LIBRARY;
	if (elf_info_is_static(elf))
		return elf->has_sections ? PROGRAM_STATIC : PROGRAM_PACKED;
	return privileged(program->binary);
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
		return "cannot be read, so its libraries are not known; the line of xrc-compat env preloads the library all the same";
	if (!statvfs(path, &system) && (system.f_flag & ST_NOEXEC))
		return "is on a file system that is mounted noexec; run a copy on another one";
	return "is there, but may not be executed; chmod +x, if it is a program";
}

/*
 * The reason may be a carriage return after the interpreter's name, which nobody sees in a message.
 */
static const char *not_found_text(const char *name, const struct program *program)
{
	const char *binary = program->binary;
	size_t length = strlen(binary);

	if (!program_is_script(program) && !strchr(name, '/') && !access(name, F_OK))
		return format_string("%s: no such program on PATH; the file here is ./%s", name,
				     name);
	if (!length || !program_is_script(program))
		return format_string("%s: no such program%s", name[0] ? name : "''",
				     strchr(name, '/') ? "" : " on PATH");
	if (binary[length - 1] == '\r')
		return format_string("%s: its '#!' line ends with a carriage return, as in text files of Windows; sed -i 's/\\r$//' removes them",
				     program->path);
	return format_string("%s: its interpreter %s was not found", program->path, binary);
}

/*
 * The sentence about the file (NULL: fault_text() makes it), the advice, and the exit status of
 * `run`.
 */
static const struct {
	const char *text, *advice;
	int exit_status;
} faults[] = {
	[PROGRAM_FINE] = { "can be preloaded", NULL, TOOL_EXIT_OK },
	[PROGRAM_NOT_FOUND] = { NULL, NULL, TOOL_EXIT_NOT_FOUND },
	[PROGRAM_NOT_EXECUTABLE] = { NULL, NULL, TOOL_EXIT_NOT_EXECUTABLE },
	[PROGRAM_BAD_FORMAT] = { "is neither an ELF program nor a script with an interpreter in its '#!' line",
				 "is it a shell script without a '#!' line? then: xrc-compat run sh PROGRAM",
				 TOOL_EXIT_NOT_EXECUTABLE },
	[PROGRAM_BAD_ELF] = { "is an ELF file, but no whole program: it is cut off, damaged, an object file or a core dump",
			      "copy it again from where it came from", TOOL_EXIT_NOT_EXECUTABLE },
	/* The kernel answers ENOENT too. */
	[PROGRAM_NO_LOADER] = { NULL,
				"install the C library of that class (on Debian libc6:i386 for 32-bit programs)",
				TOOL_EXIT_NOT_FOUND },
	[PROGRAM_LIBRARY] = { "is a shared library or plugin, not a program",
			      "ask about the program that loads it: xrc-compat check --plugin FILE PROGRAM",
			      TOOL_EXIT_NOT_EXECUTABLE },
	[PROGRAM_STATIC] = { "is statically linked; no library can be preloaded into it",
			     "a statically linked libibverbs of that age cannot work with today's kernels either: relink it dynamically",
			     TOOL_EXIT_REFUSED },
	[PROGRAM_PACKED] = { "is packed, or statically linked and without section headers: its libraries are not known, and none can "
			     "be preloaded into it",
			     "if it is packed, unpack a copy: upx -d", TOOL_EXIT_REFUSED },
	[PROGRAM_SETUID] = { "is setuid or setgid; the dynamic loader ignores LD_PRELOAD for it",
			     "run a copy without the bits: cp PROGRAM copy && chmod ug-s copy",
			     TOOL_EXIT_REFUSED },
	[PROGRAM_CAPABILITIES] = { "has file capabilities; the dynamic loader ignores LD_PRELOAD for it",
				   "run a copy: cp does not keep file capabilities",
				   TOOL_EXIT_REFUSED },
	[PROGRAM_OTHER_MACHINE] = { NULL,
				    "install libxrc-compat for that machine beside this one (docs/32-bit.md), or name it in "
				    "XRC_COMPAT_LIBRARY",
				    TOOL_EXIT_REFUSED },
	[PROGRAM_FOREIGN] = { NULL, NULL, TOOL_EXIT_NOT_EXECUTABLE }, /* ENOEXEC */
	[PROGRAM_OTHER_KERNEL] = { "is a 32-bit program, which this kernel does not execute",
				   "boot a kernel that has CONFIG_IA32_EMULATION, without ia32_emulation=0",
				   TOOL_EXIT_NOT_EXECUTABLE },
};

const char *program_fault_text(enum program_fault fault, const char *name,
			       const struct program *program, const struct elf_info *library)
{
	const struct elf_info *elf = &program->elf;
	const char *binary = program->binary[0] ? program->binary : name;
	const char *text = faults[fault].text;

	if (fault == PROGRAM_NOT_FOUND)
		return not_found_text(name, program);
	if (fault == PROGRAM_NOT_EXECUTABLE && !program->binary[0] && program->path[0])
		binary = program->path;
	if (fault == PROGRAM_NOT_EXECUTABLE)
		text = why_not_executable(binary);
	else if (fault == PROGRAM_NO_LOADER)
		text = format_string("its dynamic loader %s was not found", elf->interpreter);
	else if (fault == PROGRAM_OTHER_MACHINE)
		text = format_string("is a %d-bit %s program, but this libxrc-compat is %d-bit %s",
				     elf->bits, elf_info_machine_name(elf), library->bits,
				     elf_info_machine_name(library));
	else if (fault == PROGRAM_FOREIGN)
		text = format_string("is a %d-bit program for %s, and this machine is " OWN_MACHINE,
				     elf->bits, elf_info_machine_name(elf));
	return format_string("%s: %s", binary, text);
}

const char *program_fault_advice(enum program_fault fault)
{
	return faults[fault].advice;
}

int program_fault_exit(enum program_fault fault)
{
	return faults[fault].exit_status;
}
