/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Why `xrc-compat ps` does not read a table or a process. */
#include "ps.h"

#include <tools/common/memory.h>
#include <tools/common/message.h>
#include <tools/common/text.h>

void say_reason(const struct regtab_view_member *member)
{
	char *text = format_string("process %d (%s): %s: %s", (int)member->pid, member->command,
				   member->path, member->reason);

	text_clean(text);
	say("%s", text);
}
