/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The ids of the connection manager, for people and for programs. */
#ifndef SOFTHCA_CM_LISTING_H
#define SOFTHCA_CM_LISTING_H

#include "cm.h"

#include <stdio.h>

/* One line per id. */
void cm_listing_text(const struct hca_machine *machine, FILE *out);

/* The elements of an array. */
void cm_listing_json(const struct hca_machine *machine, FILE *out);

#endif
