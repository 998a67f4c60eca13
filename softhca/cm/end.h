/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* How ids and files of the connection manager end, or part. */
#ifndef SOFTHCA_CM_END_H
#define SOFTHCA_CM_END_H

#include "cm.h"

/*
 * Tells the peer, and ends everything that belongs to the id: connection requests that nobody has
 * fetched, too.
 */
void cm_id_destroy(struct cm_id *id);

/* The id's file becomes another one; its events come along. */
void cm_id_migrate(struct cm_id *id, struct cm_file *file);

/* Ends everything that belongs to the file. */
void cm_file_destroy(struct cm_file *file);

#endif
