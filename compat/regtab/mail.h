/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Messages to the owner of a QP. */
#ifndef COMPAT_REGTAB_MAIL_H
#define COMPAT_REGTAB_MAIL_H

#include "tab.h"

/** regtab_mail_prepare - give a member its mailbox: it is about to carry QPs. -ENOSPC. */
int regtab_mail_prepare(struct regtab_member *member);

/** regtab_mail_retired - tell an owner that it has QPs to destroy. */
void regtab_mail_retired(struct regtab *tab, unsigned owner);

#endif
