/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Who called, where there is no libunwind for this class of programs: the C library walks, and the command finds the names. */
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
