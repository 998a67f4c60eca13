/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Stacks of other processes and of core files, and the names of their frames. */
#ifndef XRC_COMPAT_TOOLS_STACK_H
#define XRC_COMPAT_TOOLS_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/procfs.h>
#include <sys/types.h>

/* ---- what a process has in its memory ---- */

/* A part of a file that is mapped. */
struct mapping {
	uint64_t start, end, offset;	/* offset: in the file */
	char path[256];
	int fd;				/* of the file, once it was read; -1: not open */
};

struct image_thread {
	pid_t thread;
	elf_gregset_t registers;
};

/* A process, or its core file. */
struct image {
	pid_t process;
	int core;			/* -1: the process is alive */
	struct mapping *mappings;
	size_t mapping_count;
	/* Of a core file: its parts, and the threads. The one that died is first. */
	struct mapping *parts;
	size_t part_count;
	struct image_thread *threads;
	size_t thread_count;
};

/* A file that is mapped, at an address in it. */
struct image_file {
	const char *path;
	uint64_t base;			/* what the loader adds to the addresses in the file */
	uint64_t unwind_table;		/* the address of .eh_frame_hdr; 0: it has none */
};

/* 0 or -errno. */
int image_of_process(pid_t process, struct image *image);
int image_of_core(const char *file, struct image *image);
void image_close(struct image *image);

bool image_read(const struct image *image, uint64_t address, void *to, size_t size);

/* False: no file is mapped there. */
bool image_find(const struct image *image, uint64_t address, struct image_file *file);

/* ---- stacks ---- */

#define STACK_FRAMES 64
#define STACK_BYTES 65536	/* of its memory, from the innermost frame on */

struct stack {
	const struct image *image;
	pid_t thread;
	unsigned int stop_us;		/* how long the thread was stopped */
	size_t frame_count;
	struct {
		uint64_t address;	/* of the call; the innermost frame has the next one's */
		uint64_t pointer;	/* of the stack, inside the frame */
	} frame[STACK_FRAMES];
	uint64_t base;			/* the address of its memory */
	size_t size;
	unsigned char memory[STACK_BYTES];
};

/*
 * Stops the thread, copies its registers and the end of its stack, and lets it run on; the walk
 * follows. 0, or -errno: -ENOSYS in a build without libunwind.
 */
int stack_of_thread(const struct image *image, pid_t thread, struct stack *stack);

/* The same for a thread that the caller traces, and which has stopped. It stays so. */
int stack_of_stopped(const struct image *image, pid_t thread, struct stack *stack);

/* The same for a thread of a core file. */
int stack_of_dead(const struct image *image, const struct image_thread *thread,
		  struct stack *stack);

/* Memory of the stack as it was when the thread was stopped, or other memory. */
bool stack_read(const struct stack *stack, uint64_t address, void *to, size_t size);

/* ---- names ---- */

/* The function and the line of the source that an address of a program or library is in. */
struct place {
	char module[256];	/* printable */
	uint64_t offset;	/* in the module */
	char symbol[64];	/* "" unknown, or without addr2line(1) */
	char line[256];		/* "file.c:12"; "" without debug information */
	struct place *outer;	/* in the function that this one is inlined in; NULL: it is not */
};

/* The innermost function there. Asks addr2line(1) once: the same address has the same pointer. */
const struct place *place_of(const char *module, uint64_t offset);

/* False for the C library and for ours. */
bool module_is_of_program(const char *module);

/* That of a frame of a stack. */
const struct place *stack_place(const struct stack *stack, size_t frame);

/*
 * The legacy call that the thread is in, with its arguments where they are found, and the threads
 * for which it waits; NULL: none.
 */
const char *stack_legacy_call(const struct stack *stack);

/* A line: "function (file.c:34, program+0x1234)". */
void place_print(FILE *out, const struct place *place);

/* A numbered line for it, and for each function that it is inlined in, as in a debugger. */
void place_print_all(FILE *out, const char *indent, const struct place *place,
		     unsigned int *number);

#endif
