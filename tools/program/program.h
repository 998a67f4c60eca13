/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program as a file: its ELF headers, its libraries, and which programs it starts. */
#ifndef XRC_COMPAT_TOOLS_PROGRAM_H
#define XRC_COMPAT_TOOLS_PROGRAM_H

#include "tools/common/common.h"

#include <limits.h>

/* ---- regular files: opening a FIFO or a device could block for ever ---- */

/* Opens a regular file for reading, and does not block on a FIFO. The descriptor, or -errno. */
int regular_open(const char *path);

/* Whether the file contains the text. False when it cannot be read. */
bool regular_has(const char *path, const char *text);

/* Whether its first @most bytes contain these. */
bool regular_has_bytes(const char *path, size_t most, const void *bytes, size_t size);

/* ---- ELF files ---- */

struct elf_info {
	int bits;	  /* 32 or 64; 0 if no file was read */
	unsigned int machine; /* EM_* */
	bool big_endian;
	bool has_interpreter;
	bool is_dynamic;  /* has a dynamic segment */
	bool has_sections; /* a packed file has none */
	bool is_program;  /* marked as one: DT_DEBUG or DF_1_PIE, which no shared library has */
	bool is_audited;   /* has DT_AUDIT: to list its libraries runs that one */
	char *interpreter; /* the dynamic loader, or NULL */
	size_t mapped; /* bytes of the file up to the end of its last PT_LOAD */
};

/*
 * Reads @path. 0, or -errno: -ENOEXEC when it is no ELF file, -ELIBBAD when it is one that no
 * process can be made of (an object file, a core dump, a part of a program), -EACCES when it is no
 * regular file, otherwise what open() said. On failure @info is left empty.
 */
int elf_info_read(const char *path, struct elf_info *info);

/* True for a program that no loader starts. False for a loader. */
bool elf_info_is_static(const struct elf_info *info);

/* True for a library or plugin, which a process loads but cannot start from. */
bool elf_info_is_library(const struct elf_info *info);

/* "x86-64", "i386", "ppc64, big-endian" ..., or "machine N"; for people. */
const char *elf_info_machine_name(const struct elf_info *info);

/*
 * Whether the file @path names the symbol, as an import or for dlsym(). Debugging information is
 * not mapped and does not count.
 */
bool elf_info_names(const struct elf_info *info, const char *path, const char *name);

/* ---- programs ---- */

struct program {
	char path[PATH_MAX];   /* what is executed */
	/* the ELF file behind it: the same file, or the interpreter of a script */
	char binary[PATH_MAX];
	struct elf_info elf;   /* of @binary; empty when it could not be read */
	const char *fault;     /* the sentence why `run` refuses it; NULL: it does not */
	const char *advice;    /* what the user can do about that, or NULL */
};

/*
 * The next two return 0, or a fault and the exit status of `run`: 127 when the program cannot be
 * found, 126 when the kernel does not execute it, 125 when no library can be preloaded into it.
 */

/*
 * Looks @name up as the shell would ($PATH, unless it contains a slash), follows '#!' lines and
 * reads the ELF file. 0 means only that it could be read.
 */
int program_open(const char *name, struct program *program);

/* Asks of an open program whether it starts and @library (its ELF header) can be preloaded. */
int program_refuse(struct program *program, const struct elf_info *library);

/* True for a script, which has another file behind it. */
bool program_is_script(const struct program *program);

/* ---- programs that start others ---- */

/* True for a script, for a known launcher or interpreter, and for a program that calls exec(). */
bool starter_is_one(const struct program *program);

/* True for mpirun and other MPI launchers, and for a script that starts one. */
bool starter_is_mpi(const struct program *program);

/*
 * The program that a launcher or a shell is given: the first of @words (up to NULL) that names by a
 * path an ELF program that starts no others, or a short shell script that ends with one. Without
 * such a word, the one that the starter itself ends with, if it is a script. NULL if none is found.
 */
const char *starter_find_program(const struct program *starter, char *const *words);

/* ---- libraries ---- */

/* An object that the loader maps. */
struct loaded_object {
	const char *path;
	const char *wanted; /* the name in DT_NEEDED */
	struct elf_info elf; /* bits 0 if it could not be read */
};

struct closure {
	struct loaded_object *object; /* [0] is the program */
	size_t count;
	struct string_list missing; /* libraries of the program that are nowhere */
	struct string_list plugin_missing; /* libraries of its plugins that are nowhere */
	const char *failure; /* why the loader would give up, in its words; or NULL */
	const char *unasked; /* why the loader could not be asked; or NULL */
};

/*
 * Asks the dynamic loader which libraries the ELF file @path, of @kind, would load, as ldd does,
 * but runs no code of theirs. @plugins, which may be NULL, are libraries that the program opens by
 * itself; plugins of Open MPI are added.
 */
void closure_read(const char *path, const struct elf_info *kind, const struct string_list *plugins,
		  struct closure *closure);

/* The object that was asked for as @name, or whose file has that name; or NULL. */
const struct loaded_object *closure_find(const struct closure *closure, const char *name);

/* Whether the name of its file begins with one of @names, up to NULL. */
bool object_begins_with(const struct loaded_object *object, const char *const *names);

/* Whether a library of an MPI implementation is there, or the program contains one. */
bool closure_has_mpi(const struct closure *closure);

/*
 * The path that the loader finds for the library @name, on behalf of the ELF file @object, of
 * @kind; @system_only: without LD_LIBRARY_PATH. NULL if there is none.
 */
const char *library_found(const char *name, const char *object, const struct elf_info *kind,
			  bool system_only);

/* ---- what must be preloaded besides libxrc-compat ---- */

/* The names of our companion libraries; NULL ends the list. */
extern const char *const companion_names[];

struct needs {
	struct string_list companion;	/* paths of our libraries with sonames that went away */
	struct string_list missing;	/* libraries that the program still misses */
	struct string_list plugin_missing; /* and its plugins; the program starts without those */
	/* the one that the program would get and that cannot work here; NULL if it is not old */
	const char *old_libibverbs;
	const char *system_libibverbs;	/* its replacement; NULL if the machine has none */
};

void needs_read(const struct closure *closure, struct needs *needs);

/*
 * Adds what @program, and the program that it starts with @words, need in LD_PRELOAD besides our
 * library. With XRC_COMPAT_VERBOSE a message names each library.
 */
void needs_add(const struct program *program, char *const *words,
	       const struct preload_wish *wish, struct string_list *libraries);

/* The same for the ELF file @path, of @kind. */
void needs_add_file(const char *path, const struct elf_info *kind,
		    const struct preload_wish *wish, struct string_list *libraries);

/* True for a libibverbs from before rdma-core. It finds no device on today's kernels. */
bool libibverbs_is_old(const char *path);

/* The libibverbs that the commands load for themselves: not an old one of LD_LIBRARY_PATH. */
const char *libibverbs_for_tools(void);

#endif
