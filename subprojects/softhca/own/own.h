/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the preload library keeps in a program without its knowledge: descriptors and memory. How it
 * reads the program's memory, and what it tells the user.
 */
#ifndef SOFTHCA_OWN_H
#define SOFTHCA_OWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Copies own memory that may not be mapped. Uses gettid(), because after pthread_exit() in main()
 * the process id has no memory.
 */
static inline bool peek(void *to, const void *from, size_t length)
{
	struct iovec here = { to, length };
	struct iovec there = { (void *)from, length };

	return process_vm_readv(gettid(), &here, 1, &there, 1, 0) == (ssize_t)length;
}

/* Prints "softhca: MESSAGE" on stderr. Each use of this macro prints only once. */
#define TELL_ONCE(...) \
	do { \
		static atomic_bool told; \
\
		if (!atomic_exchange(&told, true)) \
			fprintf(stderr, "softhca: " __VA_ARGS__); \
	} while (0)

/* ---- own descriptors (fd.c) ---- */

/* The same file under a number that programs do not use; @fd if there is none. */
int fd_move_high(int fd);
/* Which file @fd is. */
struct file_id {
	uint32_t major, minor;
	uint64_t inode; /* 0 = none */
};
struct file_id fd_file(int fd);
/* False if @fd is another file by now: closefrom(), close_range() and dup2() are not interposed. */
bool fd_is_still(int fd, struct file_id file);

/* ---- memory that is not of the heap (room.c) ---- */

/* Makes *table at least @size bytes long; *room is its length. False: no memory, and no change. */
bool room_for(void **table, size_t *room, size_t size);
void room_free(void *table, size_t room);

#endif
