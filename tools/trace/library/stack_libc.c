/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Who called, without libunwind: the C library walks the stack, and the command finds the names. */
#include "internal.h"

#include <execinfo.h>

#define DEPTH 48	/* as many as are sent, and those below the program */

void trace_stack(struct trace_record *record, uintptr_t in_shim)
{
	void *addresses[DEPTH];
	int count = backtrace(addresses, DEPTH);

	for (int i = 0; i < count; i++)
		trace_frame(record, (uintptr_t)addresses[i], in_shim);
}
