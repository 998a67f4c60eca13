/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The objects of a context, and the memory of their rings, which the daemon shares. */
#ifndef SOFTHCA_RINGS_H
#define SOFTHCA_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- objects of a context by their handles (handles.c) ---- */

struct handle {
	uint32_t number;
	void *object; /* the program's struct ibv_cq or ibv_qp, not checked yet */
	struct ibv_context *context; /* of a CQ that has been checked, or NULL */
	pid_t maker; /* the thread that has created it and given no command since; else 0 */
};

struct handles {
	struct handle *entry;
	size_t count, room; /* room: in bytes */
};

/* The contents of a command that creates a CQ, QP or SRQ. */
struct creation {
	uint32_t destroy;  /* the command that destroys the object */
	uint64_t response; /* the address of the object's number */
	uint64_t object;   /* the address of the program's structure */
	uint64_t record;   /* the address of the doorbell record; 0 = none */
};

/* False for any other command. */
bool handles_creation(const uint64_t *command, size_t length, struct creation *creation);
/* Whether the command is @destroy, and of which object. */
bool handles_destruction(const uint64_t *command, size_t length, uint32_t destroy,
			 uint32_t *number);

/*
 * Adds or removes the object of a command that the daemon has executed, if @destroy is the command
 * that destroys such objects. A new object for which there is no memory is not added.
 */
void handles_note(struct handles *handles, uint32_t destroy, const uint64_t *command,
		  size_t length);
/* The object, or NULL. */
void *handles_find(const struct handles *handles, uint32_t number);
void handles_free(struct handles *handles);

/* The context of @object, if it has @fd open; or NULL. */
struct ibv_context *handles_context(const void *object, int fd);

/* ---- the doorbell records of a context's objects (records.c) ---- */

struct record {
	uint64_t page;
	uint32_t destroy, handle; /* the command that destroys the object, and its number */
	bool shared, new;	  /* new: the daemon has not executed the command yet */
};

struct records {
	struct record *entry;
	size_t count, room; /* room: in bytes */
};

/* libmlx5 has taken this from the heap, in this thread. */
void records_taken(const void *memory);
/* Before the daemon executes @command of libmlx5: shares the page of a new object's record. */
void records_before(struct records *records, const uint64_t *command, size_t length);
/* After the daemon has executed it, with the result. */
void records_after(struct records *records, const uint64_t *command, size_t length, int err);
/* Moves all pages out of the arena. */
void records_free(struct records *records);

/* ---- memory that client and daemon share for rings and doorbell records (arena.c) ---- */

struct arena_info {
	int fd; /* -1 = none */
	uint64_t pages;
};

/* This process' arena, made at the first call. */
struct arena_info arena_info(void);
/* Whether arena_alloc() shares memory from now on. What it has shared stays. */
void arena_enable(bool enabled);
/* As mmap(2): memory for a ring or for records, shared with the daemon if it can be. */
void *arena_alloc(size_t length);
/* The program is about to unmap this. */
void arena_unmapped(void *address, size_t length);
/*
 * Moves the page at this address, which the program goes on using, into the arena. False: the page
 * stays as it is.
 */
bool arena_move_in(uint64_t page);
/* Moves a page without records out of the arena. */
void arena_move_out(uint64_t page);
/*
 * Called in a forked child: the pages that were moved in are the child's own. The child's first use
 * of the arena makes a new one.
 */
void arena_forked(void);

/* ---- programs whose mmap() is not our hook (bypass.c) ---- */

/* True once the program's mmap() bypasses our hook. From then on the arena gets no more rings. */
bool bypass_detect(void);

/* True for the call of mmap() that bypass_detect() makes. */
bool bypass_is_probe(const void *address, size_t length, int fd);

#endif
