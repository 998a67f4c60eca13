/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Entries of the table: one per QP, found by number. Lock-free; the argument stands in slot.c. */
#ifndef COMPAT_REGTAB_SLOT_H
#define COMPAT_REGTAB_SLOT_H

#include "tab.h"

/** regtab_slot_find - the entry of a QP number and its key as read. False: none. */
bool regtab_slot_find(struct regtab *tab, uint32_t qp_num, struct slot *slot, uint64_t *key);

/** regtab_slot_free - a free slot that qp_num may use. False: none, the table must grow. */
bool regtab_slot_free(struct regtab *tab, uint32_t qp_num, struct slot *slot, uint64_t *key);

/**
 * regtab_slot_only - whether no other slot has this QP number; revokes reservations of others for it. After reserving:
 * of several who reserve a slot for one number, at most one gets it.
 */
bool regtab_slot_only(struct regtab *tab, uint32_t qp_num, const struct slot *slot);

/** regtab_slot_registrants - words of live members registered with an entry; returns whether there are any. */
bool regtab_slot_registrants(struct regtab *tab, const struct slot *slot, uint64_t words[PLANES_MAX]);

/** enum settled - what regtab_slot_settle() did. */
enum settled {
	SETTLED_NOT,		/* somebody is registered, or another process settled it */
	SETTLED_ENDED,		/* the entry is free; if member self owned the QP, it shall destroy it */
	SETTLED_TOLD,		/* the owner has been told to destroy the QP */
};

/**
 * regtab_slot_settle - end an entry that no live member is registered with. For one entry exactly one caller sees it end.
 * @self: member on whose behalf, or -1.
 */
enum settled regtab_slot_settle(struct regtab *tab, const struct slot *slot, int self);

/** regtab_slot_each - call back for every slot of the table, with its key; a return value other than 0 ends it. */
int regtab_slot_each(struct regtab *tab, int (*visit)(void *context, struct slot *slot, uint64_t key), void *context);

/**
 * regtab_slot_sweep - remove a member from all entries, and settle those of them that nobody is left in.
 * @died: it may have been in the middle of something: settle whatever entry has nobody.
 */
void regtab_slot_sweep(struct regtab *tab, unsigned member, bool died);

#endif
