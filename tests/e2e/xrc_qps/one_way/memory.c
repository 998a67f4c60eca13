/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* How much memory the library needs. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "receiver.h"

/* The row is about the first receive QP of its process. */
#undef ROW_BEFORE
#undef ROW_AFTER
#define ROW_BEFORE NULL
#define ROW_AFTER NULL

#define STACK_LIMIT 8192	/* bytes below the thread's function */
#define PAINT 0x5a
#define PAINTED 65536 /* bytes, more than any call may use */

static void *create_on_painted_stack(void *unused)
{
	unsigned char *below = (unsigned char *)__builtin_frame_address(0) - PAINTED;
	size_t clean = 0;

	memset(below, PAINT, PAINTED - 4096);
	end_receive_qp(self.domain, receive_qp(self.domain));
	while (clean < PAINTED && below[clean] == PAINT)
		clean++;
	must(PAINTED - clean <= STACK_LIMIT);
	return unused;
}

/* Old event and connection threads have stacks of 16 KiB. The call also binds the symbol. */
ROW("creating the first receive QP uses at most 8 KiB of stack")
{
	side_open(&self, 0, shared_file(), false);
	join_thread(start_thread(create_on_painted_stack, NULL));
	side_close(&self);
}

/* In pages. */
static long mapped(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	must(file && fscanf(file, "%ld", &pages) == 1);
	fclose(file);
	return pages;
}

/* More could not be locked by an ordinary user's mlockall(MCL_FUTURE), whose limit is 8 MiB. */
ROW("a program with receive QPs maps less than 2 MiB for all its objects")
{
	long before;

	side_open(&self, 0, shared_file(), false);
	before = mapped();
	side_create_qp(&self, 4);
	end_receive_qp(self.domain, receive_qp(self.domain));
	must((mapped() - before) * sysconf(_SC_PAGESIZE) < 2 << 20);
	side_close(&self);
}
