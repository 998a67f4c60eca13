/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Who called: walked with libunwind, which needs no frame pointers and names static functions too. */
#define UNW_LOCAL_ONLY
#include "internal.h"

#include <libunwind.h>

static void name_function(unw_cursor_t *cursor, struct trace_frame *frame)
{
	unw_word_t offset = 0;

	if (unw_get_proc_name(cursor, frame->symbol, sizeof(frame->symbol), &offset))
		frame->symbol[0] = '\0';
	frame->symbol_offset = offset;
}

void trace_stack(struct trace_record *record, uintptr_t in_shim)
{
	struct trace_frame *frame;
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;

	if (unw_getcontext(&context) || unw_init_local(&cursor, &context))
		return;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || !ip)
			return;
		frame = trace_frame(record, ip, in_shim);
		if (frame)
			name_function(&cursor, frame);
	} while (record->frame_count < TRACE_FRAMES && unw_step(&cursor) > 0);
}
