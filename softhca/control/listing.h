/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The objects of the emulated machine, for people and for programs. */
#ifndef SOFTHCA_LISTING_H
#define SOFTHCA_LISTING_H

#include <softhca/machine/hca.h>

#include <stdio.h>

/* One line per object with a heading, or one JSON document. */
void listing_objects(const struct hca_machine *machine, FILE *out, bool json);

/* As people write them. */
const char *listing_qp_type(enum ibv_qp_type type);
const char *listing_qp_state(enum ibv_qp_state state);

#endif
