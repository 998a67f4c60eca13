/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The objects of a context by their handles. */
#ifndef SOFTHCA_RINGS_HANDLES_H
#define SOFTHCA_RINGS_HANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
