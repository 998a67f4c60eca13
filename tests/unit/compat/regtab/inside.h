/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What only tests ask of a table. The answers come from its rows. */
#ifndef TESTS_REGTAB_INSIDE_H
#define TESTS_REGTAB_INSIDE_H

#include <stdbool.h>

#include <compat/regtab/regtab.h>

/** regtab_reap - find all dead members, so that their rows do not count. Returns how many were. */
int regtab_reap(struct regtab *tab);

/** regtab_count - live registrations of the QP; finds dead ones. -EINVAL: no such QP. */
int regtab_count(struct regtab *tab, uint32_t qp_num);

/** regtab_member_count - registrations of the member. */
int regtab_member_count(struct regtab_member *member);

/** regtab_knows - 0: the QP is in the table, *carrier and *mine (may be NULL) set. -EINVAL, -EOWNERDEAD as register. */
int regtab_knows(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier *carrier, bool *mine);

#endif
