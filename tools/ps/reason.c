/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Why `xrc-compat ps` does not read a table or a process. */
#include "ps.h"

#include <tools/text/command.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>
#include <tools/text/text.h>

#include <string.h>

static unsigned int unread;

void say_reason(const struct regtab_view_member *member)
{
	char *text;

	if (member->unread && unread++)
		return;
	text = format_string("process %d (%s): %s: %s", (int)member->pid, member->command,
			     member->path, member->reason);
	text_clean(text);
	say("%s", text);
}

void say_more_unread(void)
{
	if (unread > 1)
		say("in all %u processes of this user cannot be read; `xrc-compat ps --json` lists them",
		    unread);
}

int refuse_to_list(int err)
{
	return refuse(TOOL_EXIT_REFUSED, "no registrations can be read: %s; try: xrc-compat doctor",
		      strerror(-err));
}
