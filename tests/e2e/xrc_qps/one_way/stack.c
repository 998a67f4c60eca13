/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* How much stack the library needs. */

#include <string.h>

#include "receiver.h"

/* The row is about the first receive QP of its process. */
#undef ROW_BEFORE
#undef ROW_AFTER
#define ROW_BEFORE NULL
#define ROW_AFTER NULL

#define STACK_LIMIT 8192	/* bytes below the thread's function */
#define PAINT 0x5a

static void *create_on_painted_stack(void *unused)
{
	unsigned char *below = (unsigned char *)__builtin_frame_address(0) - 65536;
	size_t clean = 0;

	memset(below, PAINT, 65536 - 4096);
	must_eq(ibv_unreg_xrc_rcv_qp(self.domain, receive_qp(self.domain)), 0);
	while (clean < 65536 && below[clean] == PAINT)
		clean++;
	must(65536 - clean <= STACK_LIMIT);
	return unused;
}

/* Old event and connection threads have stacks of 16 KiB. The call also binds the symbol. */
ROW("creating the first receive QP uses at most 8 KiB of stack")
{
	side_open(&self, 0, shared_file(), false);
	join_thread(start_thread(create_on_painted_stack, NULL));
	side_close(&self);
}
