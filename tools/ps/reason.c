/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Says what `xrc-compat ps` cannot show, and why. */
#include "ps.h"

#include <tools/text/command.h>
#include <tools/text/message.h>

#include <string.h>

void say_reasons(const struct regtab_view *all)
{
	unsigned int unread = 0;

	for (unsigned int i = 0; i < all->member_count; i++) {
		const struct regtab_view_member *member = &all->members[i];

		if (member->reason && (!member->unread || !unread++))
			say("process %d (%s): %s: %s", (int)member->pid, member->command,
			    member->path, member->reason);
	}
	if (unread > 1)
		say("in all %u processes of this user cannot be read; `xrc-compat ps --json` lists them",
		    unread);
}

void say_missing(const struct regtab_view *all)
{
	for (unsigned int i = 0; i < all->member_count; i++) {
		if (all->members[i].missing)
			say("process %d: %u more registrations; its table has no place for them",
			    (int)all->members[i].pid, all->members[i].missing);
	}
}

int refuse_to_list(int err)
{
	return refuse(TOOL_EXIT_REFUSED, "no registrations can be read: %s; try: xrc-compat doctor",
		      strerror(-err));
}
