/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Rows of the table: each member has one, and in it a bit for each QP number and each of enum row_map.
 *
 * A member writes its own row and no other, with one exception: who creates a QP clears what others have under its
 * number. A row counts only while its member's bit in header->alive is set, and is emptied before that is set again. So
 * a process that is killed between any two stores leaves a row that does not count any more, whatever was in it; one
 * that is stopped leaves a row that says what it said; and neither holds anybody up, for nobody waits for anything.
 *
 * What two processes must agree on is only whether a QP that its owner keeps still is to be had, and that takes no lock:
 *
 *   registering:  set "registered"; then look whether the owner's "created" is set; if not, take it back.
 *   ending:       if nobody is registered, clear "created"; then look whether somebody is registered; if so, set it again.
 *
 * Each stores before it looks, so at least one sees the other. If both do, the QP stays for the owner's next look.
 */
#ifndef COMPAT_REGTAB_ROW_H
#define COMPAT_REGTAB_ROW_H

#include "tab.h"

/** regtab_row - of a member; NULL: it never had one. */
struct member_row *regtab_row(struct regtab *tab, unsigned member);

/** regtab_row_word - the word with the bit of a QP; NULL: that and all of its page are not set. */
word64 *regtab_row_word(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);

/** regtab_row_has - whether the bit of a QP is set, in the row of a member dead or alive. */
bool regtab_row_has(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);

/** regtab_row_set - -ENOMEM, -ENOSPC: there is no room for more of them. */
int regtab_row_set(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);
void regtab_row_clear(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);

/** regtab_row_prepare - *row: the emptied row of a member that is about to be alive; its lock is held. As above. */
int regtab_row_prepare(struct regtab *tab, unsigned member, struct member_row **row);

/** regtab_row_next - the first QP number from qp_num on that has a bit, or 0. */
uint32_t regtab_row_next(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num);

/** regtab_next_alive - the first member from this number on whose row counts, or -1. */
int regtab_next_alive(struct regtab *tab, unsigned member);

#endif
