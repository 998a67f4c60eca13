/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Who is a member, who is dead, and the end of a member. */
#ifndef COMPAT_REGTAB_MEMBER_H
#define COMPAT_REGTAB_MEMBER_H

#include "tab.h"

/** regtab_member_check - 0, -ECHILD after fork, -ESTALE when the others took it for dead. */
int regtab_member_check(const struct regtab_member *member);

/** regtab_member_lives - asks the kernel, unless the member is of this process. In doubt: true. */
bool regtab_member_lives(struct regtab *tab, unsigned member);

/**
 * regtab_member_bury - if the member is dead, end all its registrations by one store. Table's mutex held.
 * True: dead, and its number is kept from joiners until regtab_member_clean(), to be called before releasing the mutex.
 */
bool regtab_member_bury(struct regtab *tab, unsigned member);
void regtab_member_clean(struct regtab *tab, unsigned member);

/** regtab_member_reap - bury and clean if dead. Takes the table's mutex. Returns whether it was dead. */
bool regtab_member_reap(struct regtab *tab, unsigned member);

#endif
