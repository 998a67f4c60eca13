/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Members: who is alive, and taking the place of the dead. */
#ifndef COMPAT_REGTAB_MEMBER_H
#define COMPAT_REGTAB_MEMBER_H

#include "row.h"

/**
 * regtab_member_lives - whether a member's process does. One system call, unless it is this one, or was found alive by
 * asker within the last 20 microseconds. The row of one that is found dead does not count from then on.
 */
bool regtab_member_lives(struct regtab_member *asker, unsigned member);

/** regtab_member_is_dead - by its lock alone; changes nothing. One system call. */
bool regtab_member_is_dead(struct regtab *tab, unsigned member);

/** regtab_member_tell_dead - the row of a member found dead does not count from now on. */
void regtab_member_tell_dead(struct regtab *tab, unsigned member);

/** regtab_member_hold - make sure that the member still has its locks. -ESTALE. */
int regtab_member_hold(struct regtab_member *member);

#endif
