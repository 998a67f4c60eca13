/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory for opened devices, and for tables that grow during a command. It is not of the program's
 * malloc(), which may deregister memory (MVAPICH 1.2 with its registration cache): that would wait
 * for this command.
 */
#include "own.h"
#include "real.h"

#include <proto.h>

#include <string.h>
#include <sys/mman.h>

bool room_for(void **table, size_t *room, size_t size)
{
	size_t more = *room ? *room : SOFTHCA_PAGE;
	void *memory;

	if (size <= *room)
		return true;
	while (more < size)
		more *= 2;
	memory = real()->mmap64(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
	if (memory == MAP_FAILED)
		return false;
	if (*room)
		memcpy(memory, *table, *room);
	room_free(*table, *room);
	*table = memory;
	*room = more;
	return true;
}

void room_free(void *table, size_t room)
{
	if (room)
		real()->munmap(table, room);
}
