/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The registration table of a domain, as one opened device writes it, with the warnings. Without it everything works. */
#ifndef COMPAT_TABLE_H
#define COMPAT_TABLE_H

#include <stdbool.h>
#include <sys/types.h>
#include <infiniband/verbs.h>

#include "regtab.h"

/** table_new - the entry of a domain inode in an opened device. Makes no file yet. NULL: no memory. */
struct regtab_entry *table_new(const struct ibv_context *context, dev_t dev, ino_t ino);

/**
 * table_refresh - make the file of an entry (NULL: a private domain's), or a new one if it is lost, at most once a second.
 * No lock held. True: all registrations have to be entered again.
 */
bool table_refresh(const struct ibv_context *context, struct regtab_entry *entry);

#endif
